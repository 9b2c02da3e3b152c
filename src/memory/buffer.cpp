#include "tilejit/buffer.hpp"

#include <string>
#include <utility>

#include "memory/context_of.hpp"
#include "tilejit/error.hpp"

namespace tilejit {
namespace {

void check_size(std::size_t wanted, std::size_t size) {
  if (wanted <= size) return;
  throw Error(ErrorCode::invalid_argument, "a copy of " + std::to_string(wanted) +
                                               " bytes does not fit a buffer of " +
                                               std::to_string(size) + " bytes; copy less");
}

void wait(const driver::Context& context, Stream stream) {
  const driver::ContextScope scope(context);
  driver::synchronize(context, stream);
}

}  // namespace

Buffer::Buffer(const Runtime& runtime, std::size_t bytes) : size_(bytes) {
  if (bytes == 0) return;
  context_ = memory::context_of(runtime);
  const driver::ContextScope scope(*context_);
  CUdeviceptr address = 0;
  driver::check(context_->driver(), context_->driver().cuMemAlloc_(&address, bytes), "cuMemAlloc");
  data_ = reinterpret_cast<void*>(address);
}

Buffer::Buffer(const Runtime& runtime, std::size_t bytes, Stream stream)
    : size_(bytes), stream_(stream), in_stream_order_(true) {
  if (bytes == 0) return;
  context_ = memory::context_of(runtime);
  const driver::ContextScope scope(*context_);
  CUdeviceptr address = 0;
  driver::check(context_->driver(), context_->driver().cuMemAllocAsync_(&address, bytes, stream),
                "cuMemAllocAsync");
  data_ = reinterpret_cast<void*>(address);
}

Buffer::~Buffer() {
  if (data_ == nullptr || !context_->is_alive()) return;
  const driver::QuietContextScope scope(*context_);
  if (in_stream_order_) {
    context_->driver().cuMemFreeAsync_(driver::address_of(data_), stream_);
  } else {
    context_->driver().cuMemFree_(driver::address_of(data_));
  }
}

Buffer::Buffer(Buffer&& other) noexcept
    : context_(std::move(other.context_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      stream_(other.stream_),
      in_stream_order_(other.in_stream_order_) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  Buffer taken(std::move(other));  // its destructor frees what this buffer held
  std::swap(context_, taken.context_);
  std::swap(data_, taken.data_);
  std::swap(size_, taken.size_);
  std::swap(stream_, taken.stream_);
  std::swap(in_stream_order_, taken.in_stream_order_);
  return *this;
}

void Buffer::copy_from_host(const void* source, std::size_t bytes) {
  copy_from_host_async(source, bytes, stream_);
  if (bytes > 0) wait(*context_, stream_);
}

void Buffer::copy_to_host(void* destination, std::size_t bytes) const {
  copy_to_host_async(destination, bytes, stream_);
  if (bytes > 0) wait(*context_, stream_);
}

void Buffer::copy_from_host_async(const void* source, std::size_t bytes, Stream stream) {
  check_size(bytes, size_);
  if (bytes == 0) return;
  const driver::Table& driver = context_->driver();
  const driver::ContextScope scope(*context_);
  driver::check(driver, driver.cuMemcpyHtoDAsync_(driver::address_of(data_), source, bytes, stream),
                "cuMemcpyHtoDAsync");
}

void Buffer::copy_to_host_async(void* destination, std::size_t bytes, Stream stream) const {
  check_size(bytes, size_);
  if (bytes == 0) return;
  const driver::Table& driver = context_->driver();
  const driver::ContextScope scope(*context_);
  driver::check(driver,
                driver.cuMemcpyDtoHAsync_(destination, driver::address_of(data_), bytes, stream),
                "cuMemcpyDtoHAsync");
}

HostBuffer::HostBuffer(const Runtime& runtime, std::size_t bytes) : size_(bytes) {
  if (bytes == 0) return;
  context_ = memory::context_of(runtime);
  const driver::ContextScope scope(*context_);
  const driver::Table& driver = context_->driver();
  driver::check(driver, driver.cuMemHostAlloc_(&data_, bytes, CU_MEMHOSTALLOC_PORTABLE),
                "cuMemHostAlloc");
}

HostBuffer::~HostBuffer() {
  if (data_ == nullptr || !context_->is_alive()) return;
  const driver::QuietContextScope scope(*context_);
  context_->driver().cuMemFreeHost_(data_);
}

HostBuffer::HostBuffer(HostBuffer&& other) noexcept
    : context_(std::move(other.context_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

HostBuffer& HostBuffer::operator=(HostBuffer&& other) noexcept {
  HostBuffer taken(std::move(other));
  std::swap(context_, taken.context_);
  std::swap(data_, taken.data_);
  std::swap(size_, taken.size_);
  return *this;
}

}  // namespace tilejit
