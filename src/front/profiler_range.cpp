#include "front/profiler_range.hpp"

#include <string>

#ifdef TILEJIT_HAS_NVTX
#include <nvtx3/nvToolsExt.h>
#endif

namespace tilejit::front {

#ifdef TILEJIT_HAS_NVTX

namespace {

/// Null if no profiler is attached. Kept for the life of the process, since ranges may be open at
/// its end.
nvtxDomainHandle_t domain() noexcept {
  static const nvtxDomainHandle_t made = nvtxDomainCreateA("tilejit");
  return made;
}

nvtxEventAttributes_t no_attributes() noexcept {
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  return attributes;
}

std::string text_of(std::string_view what, std::string_view kernel) {
  return std::string(what) + ' ' + std::string(kernel);
}

}  // namespace

RangeName range_name(std::string_view what, std::string_view kernel) noexcept {
  if (domain() == nullptr) return nullptr;
  return nvtxDomainRegisterStringA(domain(), text_of(what, kernel).c_str());
}

ProfilerRange::ProfilerRange(std::string_view what, std::string_view kernel) noexcept
    : open_(domain() != nullptr) {
  if (!open_) return;
  const std::string text = text_of(what, kernel);
  nvtxEventAttributes_t attributes = no_attributes();
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = text.c_str();
  nvtxDomainRangePushEx(domain(), &attributes);
}

void ProfilerRange::push(RangeName name) noexcept {
  nvtxEventAttributes_t attributes = no_attributes();
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = static_cast<nvtxStringHandle_t>(const_cast<void*>(name));
  nvtxDomainRangePushEx(domain(), &attributes);
}

void ProfilerRange::pop() noexcept {
  nvtxDomainRangePop(domain());
}

#else

RangeName range_name(std::string_view, std::string_view) noexcept {
  return nullptr;
}
ProfilerRange::ProfilerRange(std::string_view, std::string_view) noexcept : open_(false) {}
void ProfilerRange::push(RangeName) noexcept {}
void ProfilerRange::pop() noexcept {}

#endif

}  // namespace tilejit::front
