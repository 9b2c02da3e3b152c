/* libtilejit for C and for bindings of other languages (docs/c-api.md). C99; no exception leaves
 * these functions.
 *
 * Errors: a function that can fail returns a tj_status. If it is not TJ_OK, no result was
 * written, and tj_last_error() says what happened. A NULL that is not allowed, a handle's included,
 * is TJ_INVALID_ARGUMENT.
 *
 * Ownership: handles come from `..._create` and the like, and belong to the caller, who ends them
 * with `..._destroy`, which takes NULL too. Handles keep alive what they need: they may be
 * destroyed in any order. Texts given through a `char**` belong to the caller: tj_free. A `const
 * char*` that is returned lives as long as its handle. Pointers that are passed are used during the
 * call only.
 *
 * Threads: any function may be called from any thread at any time, but a handle must not be
 * destroyed while another thread uses it. Errors are kept for each thread.
 *
 * Texts are UTF-8 that ends with NUL.
 *
 * Growth: functions and enumerators are only added. Structs grow at their ends; `struct_size` is
 * the caller's sizeof. A library is good for a caller if its tj_abi_version() is not less than the
 * caller's TJ_ABI_VERSION. */
#ifndef TILEJIT_TILEJIT_H
#define TILEJIT_TILEJIT_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define TJ_API __attribute__((visibility("default")))
#else
#define TJ_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define TJ_ABI_VERSION 1u

/* TJ_ABI_VERSION of the library. */
TJ_API uint32_t tj_abi_version(void);
/* The library's version, "0.1.0". Static storage. */
TJ_API const char* tj_version(void);

/* ------------------------------------------------------------------------------------- errors */

typedef int32_t tj_status;
enum {
  TJ_OK = 0,
  TJ_INVALID_SPEC = 1,    /* a descriptor or its JSON is wrong; `where` is a JSON pointer into it */
  TJ_INVALID_LAYOUT = 2,  /* a layout does not parse, or shape and stride do not fit together */
  TJ_INVALID_FORMULA = 3, /* a formula does not parse or does not type-check */
  TJ_INVALID_ARGUMENT = 4,   /* arguments contradict the descriptor, or this interface */
  TJ_UNSUPPORTED = 5,        /* well-formed, but not available here (dtype, target, size) */
  TJ_COMPILE_FAILED = 6,     /* NVRTC refused the source; tj_last_error_log() has its log */
  TJ_NO_COMPILER = 7,        /* NVRTC is not installed or not usable */
  TJ_NO_DRIVER = 8,          /* libcuda is missing or too old */
  TJ_NO_DEVICE = 9,          /* the driver works but there is no such device */
  TJ_DRIVER_CALL = 10,       /* a CUDA driver call failed; `where` is the call */
  TJ_IO = 11,                /* a file named by the caller could not be read or written */
  TJ_OUT_OF_MEMORY = 12,     /* of the host */
  TJ_INTERNAL = 13,          /* a fault of the library: report it */
  TJ_CANCELLED = 14,         /* the request was cancelled */
  TJ_DEADLINE_EXCEEDED = 15, /* the kernel was not there in time */
  TJ_QUEUE_FULL = 16,        /* too many kernels wait to be compiled */
  TJ_MISSING = 17            /* there is no such kernel, and it may not be compiled */
};

/* The name of a status, "invalid_spec"; "ok"; "unknown". Static storage. */
TJ_API const char* tj_status_name(tj_status status);

/* The last failure of this thread: a sentence, where it was (may be empty), and the compiler's log
 * (empty except for TJ_COMPILE_FAILED). Never NULL; they live until the thread's next failing call.
 */
TJ_API const char* tj_last_error(void);
TJ_API const char* tj_last_error_where(void);
TJ_API const char* tj_last_error_log(void);

/* Frees a text that a function gave through a `char**`. Takes NULL. */
TJ_API void tj_free(void* text);

/* -------------------------------------------------------------------------------------- specs */

/* A spec is the JSON of one descriptor, or a spec file's {"kernels": [...]} of one kernel
 * (docs/spec.md). A target is "sm_90a". These functions are pure. */

/* Checks everything that needs no values. */
TJ_API tj_status tj_validate(const char* spec);
/* The JSON Schema of specs. Static storage. */
TJ_API const char* tj_spec_schema(void);
/* The plan as JSON, and the CUDA source in one file. */
TJ_API tj_status tj_render_plan(const char* spec, const char* target, char** json);
TJ_API tj_status tj_render_source(const char* spec, const char* target, char** source);

/* ---------------------------------------------------------------------------------- arguments */

/* Element types (docs/spec.md). */
enum {
  TJ_BOOL = 0,
  TJ_I8 = 1,
  TJ_I16 = 2,
  TJ_I32 = 3,
  TJ_I64 = 4,
  TJ_U8 = 5,
  TJ_U16 = 6,
  TJ_U32 = 7,
  TJ_U64 = 8,
  TJ_F16 = 9,
  TJ_BF16 = 10,
  TJ_F32 = 11,
  TJ_F64 = 12,
  TJ_F8E4M3 = 13,
  TJ_F8E5M2 = 14,
  TJ_TF32 = 15
};

/* What a tj_argument is. */
enum {
  TJ_POINTER = 0,  /* memory laid out as the descriptor says: `data` */
  TJ_TENSOR = 1,   /* checked against the descriptor, and the source of its symbols' values */
  TJ_INTEGER = 2,  /* a scalar: `integer` */
  TJ_UNSIGNED = 3, /* a scalar above 2^63-1: the bits of `integer` */
  TJ_FLOATING = 4  /* a scalar: `floating` */
};

/* One argument of a kernel. All arguments of an array have the same struct_size. */
typedef struct tj_argument {
  uint32_t struct_size; /* sizeof(tj_argument) */
  int32_t kind;         /* TJ_POINTER, ... */
  int32_t dtype;        /* of a TJ_TENSOR */
  int32_t ndim;         /* of a TJ_TENSOR: extents, one per leaf of the layout */
  void* data;           /* address of the first element */
  const int64_t* shape;
  const int64_t* strides; /* in elements; NULL: row-major without gaps */
  int64_t integer;
  double floating;
} tj_argument;

/* A value for a symbol of the descriptor. */
typedef struct tj_symbol {
  const char* name;
  int64_t value;
} tj_symbol;

/* Runs the operation on the CPU, in double precision, over host memory. `arguments`: tensors, then
 * scalars, in the order of the descriptor; a TJ_TENSOR is checked. `symbols`: all that the
 * descriptor has. */
TJ_API tj_status tj_evaluate(const char* spec, const tj_argument* arguments, size_t argument_count,
                             const tj_symbol* symbols, size_t symbol_count);

typedef struct tj_print_options {
  uint32_t struct_size; /* sizeof(tj_print_options) */
  int32_t verbose;      /* not 0: one line per element, with its coordinate */
  int32_t edge_items;   /* shown at each end of a long mode; 0: 3 */
} tj_print_options;

/* A TJ_TENSOR in host memory as text, as CuTe prints tensors. `options` may be NULL. */
TJ_API tj_status tj_print_tensor(const tj_argument* tensor, const tj_print_options* options,
                                 char** text);

/* ----------------------------------------------------------------------------------- compiler */

/* Makes cubins of specs, through the cache; needs no GPU and no driver. */
typedef struct tj_compiler tj_compiler;
/* A compiled operation, not loaded. Does not change. */
typedef struct tj_artifact tj_artifact;

/* `options`: NULL for what the environment says (docs/environment.md), or a JSON object whose
 * members replace that (docs/c-api.md), {"cache_folder": "/var/cache/app", "device": 1}. */
TJ_API tj_status tj_compiler_create(const char* options, tj_compiler** compiler);
TJ_API void tj_compiler_destroy(tj_compiler* compiler);

/* Memory, else disk, else NVRTC. */
TJ_API tj_status tj_compiler_compile(tj_compiler* compiler, const char* spec, const char* target,
                                     tj_artifact** artifact);
/* PTX and the compiler's log, from a new compile. Each may be NULL. */
TJ_API tj_status tj_compiler_listing(tj_compiler* compiler, const char* spec, const char* target,
                                     char** ptx, char** log);
/* {"path", "version", "build", "supported": [75, ...]} of NVRTC, which is loaded. */
TJ_API tj_status tj_compiler_nvrtc(tj_compiler* compiler, char** json);

/* {"key", "tier": null if not cached, "fields": {...}}: the operation's key in the cache. */
TJ_API tj_status tj_compiler_explain(tj_compiler* compiler, const char* spec, const char* target,
                                     char** json);
/* {"key", "other": {"key", "name"}, "differences": [{"field", "wanted", "other"}]}: against the key
 * of `other_spec` for the same target; if that is NULL, against the nearest entry of the cache, and
 * "other" is null if the cache is empty. */
TJ_API tj_status tj_compiler_why(tj_compiler* compiler, const char* spec, const char* target,
                                 const char* other_spec, char** json);
/* {"folder": null without one, "read_only": [...], "counters": {...}} since the compiler was made.
 */
TJ_API tj_status tj_compiler_cache_stats(tj_compiler* compiler, char** json);
/* The file of a key of 64 hex digits, whether or not it exists; empty without a folder. */
TJ_API tj_status tj_compiler_cache_path(tj_compiler* compiler, const char* key, char** path);

TJ_API void tj_artifact_destroy(tj_artifact* artifact);
/* 64 hex digits; the entry point; "sm_90a"; "memory", "disk", "read-only", "remote", "compiled". */
TJ_API const char* tj_artifact_key(const tj_artifact* artifact);
TJ_API const char* tj_artifact_kernel_name(const tj_artifact* artifact);
TJ_API const char* tj_artifact_target(const tj_artifact* artifact);
TJ_API const char* tj_artifact_tier(const tj_artifact* artifact);
/* JSON: fields of the key, resources, compile times. */
TJ_API const char* tj_artifact_metadata(const tj_artifact* artifact);
/* The ELF image, `bytes` bytes, which live as long as `artifact`. These six return NULL for NULL.
 */
TJ_API const void* tj_artifact_cubin(const tj_artifact* artifact, size_t* bytes);

typedef struct tj_artifact_info {
  uint32_t struct_size; /* sizeof(tj_artifact_info), set by the caller */
  int32_t registers;    /* per thread; these are -1 if the compiler did not say */
  int32_t spill_bytes;  /* per thread */
  int32_t shared_bytes; /* per block, static */
} tj_artifact_info;
/* What the compiler reported of the kernel. */
TJ_API tj_status tj_artifact_get_info(const tj_artifact* artifact, tj_artifact_info* info);

/* ------------------------------------------------------------------------------------ runtime */

/* Compiles, loads and launches on one device. */
typedef struct tj_runtime tj_runtime;
/* A loaded kernel. Does not change. */
typedef struct tj_kernel tj_kernel;

/* {"version", "devices": [{"ordinal", "name", "target", ...}]}; no devices is not an error. */
TJ_API tj_status tj_devices(char** json);

/* `options` as for tj_compiler_create; "device" chooses the device. */
TJ_API tj_status tj_runtime_create(const char* options, tj_runtime** runtime);
TJ_API void tj_runtime_destroy(tj_runtime* runtime);
/* {"ordinal", "name", "target", "multiprocessors", "memory_bytes", "l2_bytes"} */
TJ_API tj_status tj_runtime_device(const tj_runtime* runtime, char** json);
/* The runtime's own compiler, a handle of its own. */
TJ_API tj_status tj_runtime_compiler(tj_runtime* runtime, tj_compiler** compiler);
/* Makes the device's primary context current in this thread, as cudaSetDevice does. */
TJ_API tj_status tj_runtime_make_current(const tj_runtime* runtime);
/* Compiles for the runtime's device, and loads. */
TJ_API tj_status tj_runtime_compile(tj_runtime* runtime, const char* spec, tj_kernel** kernel);

TJ_API void tj_kernel_destroy(tj_kernel* kernel);
/* A handle of its own to what the kernel was loaded from. */
TJ_API tj_status tj_kernel_artifact(const tj_kernel* kernel, tj_artifact** artifact);

typedef struct tj_kernel_info {
  uint32_t struct_size;  /* sizeof(tj_kernel_info), set by the caller */
  int32_t registers;     /* per thread */
  int32_t local_bytes;   /* per thread: spills and stack */
  int32_t shared_bytes;  /* per block */
  int32_t threads;       /* per block */
  int32_t blocks_per_sm; /* resident at once */
} tj_kernel_info;
/* What the driver says of the kernel. */
TJ_API tj_status tj_kernel_get_info(const tj_kernel* kernel, tj_kernel_info* info);

/* Launches on `stream`, a CUstream or cudaStream_t, NULL for the legacy default stream, and returns
 * at once. `arguments`: tensors, then scalars, in the order of the descriptor, all checked before
 * the driver is called. `symbols`: values for tensors that are passed as TJ_POINTER; may be NULL.
 * The stream may be capturing a graph. */
TJ_API tj_status tj_kernel_launch(const tj_kernel* kernel, void* stream,
                                  const tj_argument* arguments, size_t argument_count,
                                  const tj_symbol* symbols, size_t symbol_count);

/* ------------------------------------------------------------------------------------- memory */

/* Device memory. One thread at a time may copy to it. */
typedef struct tj_buffer tj_buffer;

/* `bytes` of device memory, freed when the last handle and tensor on it has gone. */
TJ_API tj_status tj_buffer_create(const tj_runtime* runtime, size_t bytes, tj_buffer** buffer);
/* The same, taken and freed in the order of `stream`, which must outlive it. */
TJ_API tj_status tj_buffer_create_on_stream(const tj_runtime* runtime, size_t bytes, void* stream,
                                            tj_buffer** buffer);
TJ_API void tj_buffer_destroy(tj_buffer* buffer);
/* The device address; NULL for no bytes and for NULL. */
TJ_API void* tj_buffer_data(const tj_buffer* buffer);
/* Copy and wait, on the buffer's stream, or else on the legacy default stream. TJ_INVALID_ARGUMENT
 * also if an Assert of a tile program did not hold since the runtime last waited. */
TJ_API tj_status tj_buffer_copy_from_host(tj_buffer* buffer, const void* source, size_t bytes);
TJ_API tj_status tj_buffer_copy_to_host(const tj_buffer* buffer, void* destination, size_t bytes);

/* A TJ_TENSOR in device memory as text: copied in the order of `stream`, and waited for. */
TJ_API tj_status tj_runtime_print_tensor(const tj_runtime* runtime, void* stream,
                                         const tj_argument* tensor, const tj_print_options* options,
                                         char** text);

/* ------------------------------------------------------------------------------------- DLPack */

/* A tensor of another library. */
typedef struct tj_tensor tj_tensor;

/* Takes over a DLManagedTensorVersioned (`versioned` not 0) or a DLManagedTensor, unless this
 * fails. tj_tensor_destroy calls its deleter, once. */
TJ_API tj_status tj_tensor_from_dlpack(void* managed, int32_t versioned, tj_tensor** tensor);
TJ_API void tj_tensor_destroy(tj_tensor* tensor);
/* DLPack's numbers of the device's type and the device; either may be NULL. */
TJ_API tj_status tj_tensor_device(const tj_tensor* tensor, int32_t* device_type,
                                  int32_t* device_id);
/* Fills in a TJ_TENSOR that is valid while `tensor` is; the caller sets argument->struct_size.
 * `runtime` must reach the memory; NULL: it must be host memory. `writes` not 0: a read-only tensor
 * is refused. */
TJ_API tj_status tj_tensor_argument(const tj_tensor* tensor, const tj_runtime* runtime,
                                    int32_t writes, tj_argument* argument);
/* A tensor in a buffer for another library, which calls the deleter of `managed` (of the kind that
 * `versioned` says) once. The memory lives until then; whoever reads it waits for the stream that
 * writes it. Uses dtype, ndim, shape and strides of `tensor`. */
TJ_API tj_status tj_buffer_to_dlpack(const tj_buffer* buffer, const tj_argument* tensor,
                                     int32_t versioned, void** managed);

#ifdef __cplusplus
}
#endif

#endif
