/* c = a + b from C: compiled while this program runs; on the GPU where there is one, else on the
 * CPU. */
#include <stdio.h>
#include <tilejit/tilejit.h>

#define COUNT 4096

static const char* const kSpec =
    "{\"name\": \"add\","
    " \"tensors\": {\"a\": {\"dtype\": \"f32\", \"layout\": \"4096:1\"},"
    "             \"b\": {\"dtype\": \"f32\", \"layout\": \"4096:1\"},"
    "             \"c\": {\"dtype\": \"f32\", \"layout\": \"4096:1\"}},"
    " \"formula\": \"c = a + b\"}";

static float a[COUNT], b[COUNT], c[COUNT];
static float* const kHost[3] = {a, b, c};

static void print_error(const char* what) {
  fprintf(stderr, "%s: %s\n", what, tj_last_error());
}

static tj_argument pointer(void* data) {
  tj_argument argument = {0};
  argument.struct_size = sizeof argument;
  argument.kind = TJ_POINTER;
  argument.data = data;
  return argument;
}

/* Prints what the compiler says of the kernel. Needs no GPU. */
static int compile_only(void) {
  tj_compiler* compiler = NULL;
  tj_artifact* artifact = NULL;
  tj_artifact_info info = {sizeof info, 0, 0, 0};
  tj_status status = tj_compiler_create(NULL, &compiler);
  if (status == TJ_OK) status = tj_compiler_compile(compiler, kSpec, "sm_90a", &artifact);
  if (status == TJ_OK) status = tj_artifact_get_info(artifact, &info);
  if (status == TJ_OK) {
    size_t bytes = 0;
    (void)tj_artifact_cubin(artifact, &bytes);
    printf("%s for %s: %lu bytes, %d registers\n", tj_artifact_kernel_name(artifact),
           tj_artifact_target(artifact), (unsigned long)bytes, (int)info.registers);
  } else {
    print_error("compile");
  }
  tj_artifact_destroy(artifact);
  tj_compiler_destroy(compiler);
  return status == TJ_OK;
}

/* c = a + b on the device of `runtime`. */
static int run_on_device(tj_runtime* runtime) {
  tj_kernel* kernel = NULL;
  tj_buffer* buffers[3] = {NULL, NULL, NULL};
  tj_argument arguments[3];
  int i;
  tj_status status = tj_runtime_compile(runtime, kSpec, &kernel);
  for (i = 0; i < 3 && status == TJ_OK; ++i) {
    status = tj_buffer_create(runtime, sizeof a, &buffers[i]);
    arguments[i] = pointer(tj_buffer_data(buffers[i]));
    if (status == TJ_OK) status = tj_buffer_copy_from_host(buffers[i], kHost[i], sizeof a);
  }
  if (status == TJ_OK) status = tj_kernel_launch(kernel, NULL, arguments, 3, NULL, 0);
  if (status == TJ_OK) status = tj_buffer_copy_to_host(buffers[2], c, sizeof c);
  if (status != TJ_OK) print_error("launch");
  for (i = 0; i < 3; ++i) tj_buffer_destroy(buffers[i]);
  tj_kernel_destroy(kernel);
  return status == TJ_OK;
}

static int run_on_cpu(void) {
  tj_argument arguments[3];
  int i;
  printf("on the CPU: %s\n", tj_last_error());
  for (i = 0; i < 3; ++i) arguments[i] = pointer(kHost[i]);
  if (tj_evaluate(kSpec, arguments, 3, NULL, 0) == TJ_OK) return 1;
  print_error("evaluate");
  return 0;
}

static int run(void) {
  tj_runtime* runtime = NULL;
  const tj_status status = tj_runtime_create(NULL, &runtime);
  int right;
  if (status == TJ_NO_DRIVER || status == TJ_NO_DEVICE) return run_on_cpu();
  if (status != TJ_OK) {
    print_error("runtime");
    return 0;
  }
  right = run_on_device(runtime);
  tj_runtime_destroy(runtime);
  return right;
}

int main(void) {
  int i;
  for (i = 0; i < COUNT; ++i) {
    a[i] = (float)i;
    b[i] = 2.5F;
  }
  if (!compile_only() || !run()) return 1;
  printf("c[1234] = %g\n", (double)c[1234]);
  return 0;
}
