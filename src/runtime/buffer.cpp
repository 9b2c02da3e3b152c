#include <string>
#include <utility>

#include "runtime/internals.hpp"
#include "tilejit/error.hpp"
#include "tilejit/runtime.hpp"

namespace tilejit {
namespace {

CUdeviceptr address_of(const void* data) noexcept {
  return reinterpret_cast<CUdeviceptr>(data);
}

void check_size(std::size_t wanted, std::size_t size) {
  if (wanted <= size) return;
  throw Error(ErrorCode::invalid_argument, "a copy of " + std::to_string(wanted) +
                                               " bytes does not fit a buffer of " +
                                               std::to_string(size) + " bytes; copy less");
}

}  // namespace

Buffer::Buffer(const Runtime& runtime, std::size_t bytes) : size_(bytes) {
  if (bytes == 0) return;
  context_ = runtime::Internals::context(runtime);
  const driver::ContextScope scope(*context_);
  CUdeviceptr address = 0;
  driver::check(context_->driver(), context_->driver().cuMemAlloc_(&address, bytes), "cuMemAlloc");
  data_ = reinterpret_cast<void*>(address);
}

Buffer::~Buffer() {
  if (data_ == nullptr) return;
  const driver::Table& driver = context_->driver();
  // Not a ContextScope: that may throw. Without its context the driver refuses, as it may when the
  // process ends; the memory is gone then anyway.
  const bool pushed = driver.cuCtxPushCurrent_(context_->handle()) == CUDA_SUCCESS;
  driver.cuMemFree_(address_of(data_));
  CUcontext popped = nullptr;
  if (pushed) driver.cuCtxPopCurrent_(&popped);
}

Buffer::Buffer(Buffer&& other) noexcept
    : context_(std::move(other.context_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  Buffer taken(std::move(other));  // frees what this buffer held
  std::swap(context_, taken.context_);
  std::swap(data_, taken.data_);
  std::swap(size_, taken.size_);
  return *this;
}

void Buffer::copy_from_host(const void* source, std::size_t bytes) {
  check_size(bytes, size_);
  if (bytes == 0) return;
  const driver::Table& driver = context_->driver();
  const driver::ContextScope scope(*context_);
  driver::check(driver, driver.cuMemcpyHtoDAsync_(address_of(data_), source, bytes, nullptr),
                "cuMemcpyHtoDAsync");
  driver::check(driver, driver.cuStreamSynchronize_(nullptr), "cuStreamSynchronize");
}

void Buffer::copy_to_host(void* destination, std::size_t bytes) const {
  check_size(bytes, size_);
  if (bytes == 0) return;
  const driver::Table& driver = context_->driver();
  const driver::ContextScope scope(*context_);
  driver::check(driver, driver.cuMemcpyDtoHAsync_(destination, address_of(data_), bytes, nullptr),
                "cuMemcpyDtoHAsync");
  driver::check(driver, driver.cuStreamSynchronize_(nullptr), "cuStreamSynchronize");
}

}  // namespace tilejit
