#include "memory/stream_memories.hpp"

#include <algorithm>

namespace tilejit::memory {
namespace {

constexpr std::size_t kMostStreams = 16, kMostBytes = 1 << 20;
constexpr std::size_t kPieceAlignment = 256;

}  // namespace

StreamMemories::StreamMemories(std::shared_ptr<const driver::Context> context, std::size_t bytes,
                               bool counts)
    : context_(std::move(context)),
      piece_((bytes + kPieceAlignment - 1) / kPieceAlignment * kPieceAlignment),
      count_(std::clamp<std::size_t>(kMostBytes / piece_, 1, kMostStreams)),
      memory_(context_, piece_ * count_) {
  if (counts) memory_.clear();
}

CUdeviceptr StreamMemories::of(Stream stream) const {
  const driver::Table& driver = context_->driver();
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  driver::check(driver, driver.cuStreamIsCapturing_(stream, &status), "cuStreamIsCapturing");
  if (status != CU_STREAM_CAPTURE_STATUS_NONE) return 0;
  // Handles are reused after streams are destroyed, even while their work still runs; ids are not.
  unsigned long long id = 0;
  driver::check(driver, driver.cuStreamGetId_(stream, &id), "cuStreamGetId");
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(ids_, id);
  const auto number = static_cast<std::size_t>(found - ids_.begin());
  if (found == ids_.end()) {
    if (number == count_) return 0;
    ids_.push_back(id);
  }
  return memory_.address() + number * piece_;
}

}  // namespace tilejit::memory
