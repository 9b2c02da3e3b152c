#include "capi/arguments.hpp"
#include "capi/handles.hpp"
#include "capi/json.hpp"
#include "capi/parse.hpp"

using namespace tilejit;
using namespace tilejit::capi;
using nlohmann::ordered_json;

namespace {

ordered_json device_json(const DeviceInfo& device) {
  return {{"ordinal", device.ordinal},           {"name", device.name},
          {"target", to_string(device.target)},  {"multiprocessors", device.multiprocessors},
          {"memory_bytes", device.memory_bytes}, {"l2_bytes", device.l2_bytes}};
}

}  // namespace

extern "C" {

tj_status tj_devices(char** json) {
  return guarded([&] {
    (void)required(json, "json");
    const DriverInfo driver = query_driver();
    auto devices = ordered_json::array();
    for (const DeviceInfo& device : driver.devices) devices.push_back(device_json(device));
    *json = json_text({{"version", driver.version}, {"devices", std::move(devices)}});
  });
}

tj_status tj_runtime_create(const char* options, tj_runtime** runtime) {
  return guarded([&] {
    (void)required(runtime, "runtime");
    *runtime = new tj_runtime{std::make_shared<Runtime>(parse_options(options))};
  });
}

void tj_runtime_destroy(tj_runtime* runtime) {
  delete runtime;
}

tj_status tj_runtime_device(const tj_runtime* runtime, char** json) {
  return guarded([&] {
    (void)required(json, "json");
    *json = json_text(device_json(required(runtime, "runtime").runtime->device()));
  });
}

tj_status tj_runtime_compiler(tj_runtime* runtime, tj_compiler** compiler) {
  return guarded([&] {
    const auto& owner = required(runtime, "runtime").runtime;
    (void)required(compiler, "compiler");
    *compiler = new tj_compiler{std::shared_ptr<Compiler>(owner, &owner->compiler())};
  });
}

tj_status tj_runtime_make_current(const tj_runtime* runtime) {
  return guarded([&] { required(runtime, "runtime").runtime->make_current(); });
}

tj_status tj_runtime_compile(tj_runtime* runtime, const char* spec, tj_kernel** kernel) {
  return guarded([&] {
    (void)required(kernel, "kernel");
    *kernel = new tj_kernel{
        required(runtime, "runtime")
            .runtime->compile(parse_spec(spec, runtime->runtime->compiler().options()))};
  });
}

void tj_kernel_destroy(tj_kernel* kernel) {
  delete kernel;
}

tj_status tj_kernel_artifact(const tj_kernel* kernel, tj_artifact** artifact) {
  return guarded([&] {
    (void)required(artifact, "artifact");
    *artifact = new tj_artifact(required(kernel, "kernel").kernel.artifact());
  });
}

tj_status tj_kernel_get_info(const tj_kernel* kernel, tj_kernel_info* info) {
  return guarded([&] {
    tj_kernel_info& filled = required_struct(info, "info");
    const KernelInfo known = required(kernel, "kernel").kernel.info();
    filled.registers = known.registers;
    filled.local_bytes = known.local_bytes;
    filled.shared_bytes = known.shared_bytes;
    filled.threads = known.threads;
    filled.blocks_per_sm = known.blocks_per_sm;
  });
}

tj_status tj_kernel_launch(const tj_kernel* kernel, void* stream, const tj_argument* arguments,
                           size_t argument_count, const tj_symbol* symbols, size_t symbol_count) {
  return guarded([&] {
    const Kernel& known = required(kernel, "kernel").kernel;
    const Arguments converted(arguments, argument_count);
    const auto on = static_cast<Stream>(stream);
    if (symbol_count == 0) return known.launch(on, converted.get());
    known.launch(on, converted.get(), symbol_values(symbols, symbol_count));
  });
}

}  // extern "C"
