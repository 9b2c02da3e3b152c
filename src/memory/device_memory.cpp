#include "memory/device_memory.hpp"

namespace tilejit::memory {

DeviceMemory::DeviceMemory(std::shared_ptr<const driver::Context> context, std::size_t bytes)
    : context_(std::move(context)), bytes_(bytes) {
  const driver::ContextScope scope(*context_);
  const driver::OutsideCapture outside(context_->driver());
  driver::check(context_->driver(), context_->driver().cuMemAlloc_(&address_, bytes), "cuMemAlloc");
}

DeviceMemory::~DeviceMemory() {
  if (address_ == 0 || !context_->is_alive()) return;
  const driver::QuietContextScope scope(*context_);
  context_->driver().cuMemFree_(address_);
}

void DeviceMemory::clear() const {
  const driver::Table& driver = context_->driver();
  const driver::ContextScope scope(*context_);
  const driver::OutsideCapture outside(driver);
  // A new stream waits for no other and is not part of a capture.
  const driver::UniqueStream stream = driver::make_stream(*context_, CU_STREAM_NON_BLOCKING);
  driver::check(driver, driver.cuMemsetD8Async_(address_, 0, bytes_, stream.get()),
                "cuMemsetD8Async");
  driver::check(driver, driver.cuStreamSynchronize_(stream.get()), "cuStreamSynchronize");
}

}  // namespace tilejit::memory
