#include <string>

#include "graph/graph_impl.hpp"
#include "launch/internals.hpp"
#include "tilejit/error.hpp"

namespace tilejit {
namespace {

CUstreamCaptureMode mode_of(Capture::Mode mode) noexcept {
  switch (mode) {
    case Capture::Mode::global: return CU_STREAM_CAPTURE_MODE_GLOBAL;
    case Capture::Mode::relaxed: return CU_STREAM_CAPTURE_MODE_RELAXED;
    case Capture::Mode::thread: break;
  }
  return CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
}

std::string text_of(Capture::Mode mode) {
  switch (mode) {
    case Capture::Mode::global: return "a call of any thread that a capture in global mode forbids";
    case Capture::Mode::relaxed: return "a call that would have to wait for what is captured";
    case Capture::Mode::thread: break;
  }
  return "a call of this thread that a capture forbids";
}

void refuse_legacy(Stream stream) {
  constexpr std::uintptr_t kLegacy = 1;  // CU_STREAM_LEGACY
  if (stream != nullptr && stream != reinterpret_cast<Stream>(kLegacy)) return;
  throw Error(ErrorCode::invalid_argument,
              "the legacy default stream cannot be captured; capture an OwnedStream or the "
              "per-thread stream");
}

}  // namespace

struct Capture::Impl {
  std::shared_ptr<const driver::Context> context;
  Stream stream = nullptr;
  Mode mode = Mode::thread;
  std::string place = "the beginning";
  bool active = false;

  Impl(std::shared_ptr<const driver::Context> owner, Stream captured, Mode how);
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  [[noreturn]] void fail(CUresult result, const std::string& here) const;
};

Capture::Impl::Impl(std::shared_ptr<const driver::Context> owner, Stream captured, Mode how)
    : context(std::move(owner)), stream(captured), mode(how) {
  refuse_legacy(stream);
  const driver::Table& driver = context->driver();
  const driver::ContextScope scope(*context);
  driver::forget_capture_fault();
  driver::check(driver, driver.cuStreamBeginCapture_(stream, mode_of(mode)),
                "cuStreamBeginCapture");
  active = true;
}

Capture::Impl::~Impl() {
  if (!active || !context->is_alive()) return;
  const driver::QuietContextScope scope(*context);
  CUgraph dropped = nullptr;
  const driver::Table& driver = context->driver();
  driver.cuStreamEndCapture_(stream, &dropped);
  if (dropped != nullptr) driver.cuGraphDestroy_(dropped);
}

/// Reports what is known about the call that broke the capture.
void Capture::Impl::fail(CUresult result, const std::string& here) const {
  const char* call = driver::capture_fault();
  const driver::Table& driver = context->driver();
  try {
    driver::check(driver, result, "cuStreamEndCapture");
  } catch (const Error& error) {
    const std::string by = call != nullptr ? std::string(call) : text_of(mode);
    throw Error(ErrorCode::driver_call,
                "the capture was broken between " + place + " and " + here + ", by " + by + ": " +
                    error.what(),
                call != nullptr ? call : error.where());
  }
  throw std::logic_error("a capture that is not broken");
}

Capture::Capture(const Runtime& runtime, Stream stream, Mode mode)
    : impl_(std::make_unique<Impl>(launch::Internals::context(runtime), stream, mode)) {}
Capture::~Capture() = default;
Capture::Capture(Capture&&) noexcept = default;
Capture& Capture::operator=(Capture&&) noexcept = default;

void Capture::pass(std::string_view place) {
  const driver::Table& driver = impl_->context->driver();
  // A default stream belongs to the current context.
  const driver::ContextScope scope(*impl_->context);
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  driver::check(driver, driver.cuStreamIsCapturing_(impl_->stream, &status), "cuStreamIsCapturing");
  if (status != CU_STREAM_CAPTURE_STATUS_ACTIVE) {
    impl_->fail(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "'" + std::string(place) + "'");
  }
  impl_->place = "'" + std::string(place) + "'";
}

Graph Capture::end() {
  if (!impl_->active) {
    throw Error(ErrorCode::invalid_argument, "the capture has ended already; begin another one");
  }
  const driver::Table& driver = impl_->context->driver();
  const driver::ContextScope scope(*impl_->context);
  auto made = std::make_shared<Graph::Impl>(impl_->context);
  CUgraph handle = nullptr;
  const CUresult result = driver.cuStreamEndCapture_(impl_->stream, &handle);
  // A capture that another thread tried to end goes on; after any other result it is over.
  impl_->active = result == CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
  made->handle = driver::UniqueGraph(handle, {impl_->context.get()});
  if (result == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED) impl_->fail(result, "the end");
  driver::check(driver, result, "cuStreamEndCapture");
  return Graph(std::move(made));
}

}  // namespace tilejit
