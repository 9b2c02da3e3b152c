// Requests of a Runtime: sealing, fallbacks for misses, and requests during a stream capture.
#include "driver/fork.hpp"
#include "front/compiler_impl.hpp"
#include "launch/fallback.hpp"
#include "launch/internals.hpp"
#include "launch/runtime_impl.hpp"

namespace tilejit {
namespace {

constexpr const char* kInCapture =
    "compiling while a stream is being captured is forbidden (TILEJIT_COMPILE_IN_CAPTURE=0)";

bool is_capturing(const driver::Table& driver, Stream stream) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  const CUresult result = driver.cuStreamIsCapturing_(stream, &status);
  // Returned for the legacy default stream while a stream that it synchronises with is being
  // captured.
  if (result == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT) return true;
  driver::check(driver, result, "cuStreamIsCapturing");
  return status != CU_STREAM_CAPTURE_STATUS_NONE;
}

}  // namespace

Kernel Runtime::Impl::serve(const Operation& op, Capturing capturing) {
  front::Requests& requests = launch::Internals::open(compiler).requests;
  if (requests.sealed()) {
    const auto number = requests.use(op, device.target);
    if (auto kernel = number ? known.find(*number) : std::nullopt) return *std::move(kernel);
  }
  try {
    Kernel kernel = front::watch(requests, op, device.target, [&] { return load(op, capturing); });
    if (const auto number = requests.index().served(op, device.target)) known.add(*number, kernel);
    return kernel;
  } catch (const MissError&) {
    if (compiler.options().miss_policy != MissPolicy::fallback) throw;
    auto general = find_general(op);
    if (!general) throw;
    requests.fell_back();
    return *std::move(general);
  }
}

std::optional<Kernel> Runtime::Impl::find_general(const Operation& op) {
  const usage::Index& index = launch::Internals::open(compiler).requests.index();
  for (const std::size_t number : index.alike(op, device.target)) {
    const auto kernel = known.find(number);
    if (!kernel) continue;
    if (auto values = launch::admits(kernel->op(), op)) {
      return launch::Internals::bind(*kernel, *std::move(values));
    }
  }
  return std::nullopt;
}

Kernel Runtime::compile(const Operation& op) {
  driver::refuse_after_fork("Runtime::compile");
  return impl_->serve(op, Impl::Capturing::no);
}

Kernel Runtime::compile(const Operation& op, Stream stream) {
  driver::refuse_after_fork("Runtime::compile");
  const driver::Table& driver = impl_->context->driver();
  if (!is_capturing(driver, stream)) return compile(op);
  const bool allowed = impl_->compiler.options().compile_in_capture;
  const front::ForbidScope forbid(allowed ? nullptr : kInCapture);
  Kernel kernel = impl_->serve(op, Impl::Capturing::yes);
  front::Requests& requests = launch::Internals::open(impl_->compiler).requests;
  if (kernel.artifact().tier == CacheTier::compiled && !requests.sealed()) {
    requests.compiled_in_capture();
  }
  return kernel;
}

void Runtime::seal() noexcept {
  impl_->compiler.seal();
}

}  // namespace tilejit
