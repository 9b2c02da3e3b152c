#include "tilejit/stream.hpp"

#include <string>

#include "memory/context_of.hpp"
#include "memory/stream_impl.hpp"
#include "tilejit/error.hpp"

namespace tilejit {
namespace {

/// True if all work is done, false if the driver says "not ready".
bool is_ready(const driver::Context& context, CUresult result, const char* call) {
  if (result == CUDA_ERROR_NOT_READY) return false;
  driver::check(context.driver(), result, call);
  context.reports().raise();
  return true;
}

void check_priority(const driver::Limits& limits, int priority) {
  if (priority >= limits.greatest_priority && priority <= limits.least_priority) return;
  throw Error(ErrorCode::invalid_argument,
              "the priority " + std::to_string(priority) + " is not between " +
                  std::to_string(limits.greatest_priority) + " and " +
                  std::to_string(limits.least_priority) + ", which this device has");
}

}  // namespace

OwnedStream::OwnedStream(const Runtime& runtime, StreamOptions options)
    : impl_(std::make_unique<Impl>()) {
  impl_->context = memory::context_of(runtime);
  check_priority(impl_->context->limits(), options.priority);
  const driver::ContextScope scope(*impl_->context);
  impl_->handle = driver::make_stream(*impl_->context,
                                      options.blocking ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING,
                                      options.priority);
}

OwnedStream::~OwnedStream() = default;
OwnedStream::OwnedStream(OwnedStream&&) noexcept = default;
OwnedStream& OwnedStream::operator=(OwnedStream&&) noexcept = default;

Stream OwnedStream::get() const noexcept {
  return impl_->handle.get();
}

void OwnedStream::synchronize() const {
  driver::synchronize(*impl_->context, get());
}

bool OwnedStream::is_idle() const {
  const driver::Table& driver = impl_->context->driver();
  return is_ready(*impl_->context, driver.cuStreamQuery_(get()), "cuStreamQuery");
}

Event::Event(const Runtime& runtime, Timing timing) : impl_(std::make_shared<Impl>()) {
  impl_->context = memory::context_of(runtime);
  const driver::ContextScope scope(*impl_->context);
  impl_->handle = driver::make_event(
      *impl_->context, timing == Timing::on ? CU_EVENT_DEFAULT : CU_EVENT_DISABLE_TIMING);
}

Event::~Event() = default;
Event::Event(Event&&) noexcept = default;
Event& Event::operator=(Event&&) noexcept = default;

::CUevent_st* Event::get() const noexcept {
  return impl_->handle.get();
}

void Event::record(Stream stream) {
  const driver::Table& driver = impl_->context->driver();
  // A default stream belongs to the current context.
  const driver::ContextScope scope(*impl_->context);
  driver::check(driver, driver.cuEventRecord_(get(), stream), "cuEventRecord");
}

void Event::wait(Stream stream) const {
  const driver::Table& driver = impl_->context->driver();
  const driver::ContextScope scope(*impl_->context);
  driver::check(driver, driver.cuStreamWaitEvent_(stream, get(), CU_EVENT_WAIT_DEFAULT),
                "cuStreamWaitEvent");
}

void Event::synchronize() const {
  const driver::Table& driver = impl_->context->driver();
  driver::check(driver, driver.cuEventSynchronize_(get()), "cuEventSynchronize");
  impl_->context->reports().raise();
}

bool Event::is_done() const {
  const driver::Table& driver = impl_->context->driver();
  return is_ready(*impl_->context, driver.cuEventQuery_(get()), "cuEventQuery");
}

double Event::milliseconds_since(const Event& begin) const {
  const driver::Table& driver = impl_->context->driver();
  float elapsed = 0;
  driver::check(driver, driver.cuEventElapsedTime_(&elapsed, begin.get(), get()),
                "cuEventElapsedTime");
  return elapsed;
}

}  // namespace tilejit
