#include "runtime/stream_memories.hpp"

namespace tilejit::runtime {
namespace {

constexpr std::size_t kMostStreams = 16;

}  // namespace

CUdeviceptr StreamMemories::of(Stream stream) const {
  const driver::Table& driver = context_->driver();
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  driver::check(driver, driver.cuStreamIsCapturing_(stream, &status), "cuStreamIsCapturing");
  if (status != CU_STREAM_CAPTURE_STATUS_NONE) return 0;
  // Handles come back when streams are destroyed, while their work may still run; ids do not.
  unsigned long long id = 0;
  driver::check(driver, driver.cuStreamGetId_(stream, &id), "cuStreamGetId");
  const std::lock_guard lock(mutex_);
  if (only_) {
    if (!first_) first_ = id;
    return *first_ == id ? only_->address() : 0;
  }
  if (const auto found = memories_.find(id); found != memories_.end()) {
    return found->second.address();
  }
  if (memories_.size() == kMostStreams) return 0;
  const auto added = memories_.try_emplace(id, context_, bytes_).first;
  try {
    added->second.clear();
  } catch (...) {
    memories_.erase(added);
    throw;
  }
  return added->second.address();
}

}  // namespace tilejit::runtime
