// A profiler for tests: NVTX loads it from the path in NVTX_INJECTION64_PATH, and it records the
// ranges of one domain.
#include <nvtx3/nvToolsExt.h>

#include <deque>
#include <mutex>
#include <string>

namespace {

std::mutex mutex;
std::string domain_name, ranges;
std::deque<std::string> registered;

nvtxDomainHandle_t NVTX_API create_domain(const char* name) {
  domain_name = name;
  return reinterpret_cast<nvtxDomainHandle_t>(&domain_name);
}

nvtxStringHandle_t NVTX_API register_string(nvtxDomainHandle_t, const char* text) {
  const std::lock_guard lock(mutex);
  registered.emplace_back(text);
  return reinterpret_cast<nvtxStringHandle_t>(&registered.back());
}

int NVTX_API push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  const std::lock_guard lock(mutex);
  const bool is_handle = attributes->messageType == NVTX_MESSAGE_TYPE_REGISTERED;
  ranges +=
      *reinterpret_cast<const std::string*>(domain) + ": " +
      (is_handle ? *reinterpret_cast<const std::string*>(attributes->message.registered) + " (name)"
                 : attributes->message.ascii) +
      "\n";
  return 0;
}

int NVTX_API pop(nvtxDomainHandle_t) {
  const std::lock_guard lock(mutex);
  ranges += "end\n";
  return 0;
}

template <typename Function>
void set(NvtxFunctionTable table, int id, Function function) {
  *table[id] = reinterpret_cast<NvtxFunctionPointer>(function);
}

}  // namespace

extern "C" {

/// The ranges recorded since the last call.
[[gnu::visibility("default")]] void take_recorded_ranges(std::string& out) {
  const std::lock_guard lock(mutex);
  out.swap(ranges);
  ranges.clear();
}

[[gnu::visibility("default")]] int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table) {
  const auto* callbacks =
      static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks == nullptr ||
      callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) == 0 ||
      size <= NVTX_CBID_CORE2_DomainCreateA) {
    return 0;
  }
  set(table, NVTX_CBID_CORE2_DomainCreateA, create_domain);
  set(table, NVTX_CBID_CORE2_DomainRegisterStringA, register_string);
  set(table, NVTX_CBID_CORE2_DomainRangePushEx, push);
  set(table, NVTX_CBID_CORE2_DomainRangePop, pop);
  return 1;
}
}
