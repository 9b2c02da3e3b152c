#include "tilejit/runtime.hpp"

#include "front/compiler_impl.hpp"
#include "front/stopwatch.hpp"
#include "launch/internals.hpp"
#include "launch/runtime_impl.hpp"
#include "memory/context_of.hpp"
#include "memory/device.hpp"

namespace tilejit {

Runtime::Impl::Impl(Options options, const driver::Table& driver)
    : Impl(options, driver::Context::retain(driver, options.device)) {}

Runtime::Impl::Impl(Options options, const driver::Table& driver, CUcontext handle)
    : Impl(std::move(options), driver::Context::adopt(driver, handle)) {}

// A device's handle equals its ordinal (cuDeviceGet).
Runtime::Impl::Impl(Options options, std::shared_ptr<const driver::Context> owner)
    : context(std::move(owner)),
      device(memory::describe_device(context->driver(), context->device())),
      libraries(context),
      compiler(std::move(options)) {}

Runtime::Runtime(Options options)
    : impl_(std::make_unique<Impl>(std::move(options), driver::load_driver())) {}

Runtime::Runtime(Options options, ::CUctx_st* context)
    : impl_(std::make_unique<Impl>(std::move(options), driver::load_driver(), context)) {}

Runtime::Runtime(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Runtime::~Runtime() = default;
Runtime::Runtime(Runtime&&) noexcept = default;
Runtime& Runtime::operator=(Runtime&&) noexcept = default;

Kernel Runtime::Impl::load(const Operation& op, Capturing capturing) {
  Compiler::Impl& service = launch::Internals::open(compiler);
  const front::Planned planned = service.plan(op, device.target, device.name);
  auto [artifact, plan, quick] =
      capturing == Capturing::yes
          ? launch::Internals::FirstBuild{service.compile(planned, {.effort = service.effort()}),
                                          planned.plan}
          : launch::Internals::first_build(compiler, op, planned);
  const front::Stopwatch watch;
  const operation::LaunchPlan launch = plan.body->launch();
  auto library = libraries.find_or_load(artifact, launch);
  artifact.times.load = watch.milliseconds();
  Kernel kernel =
      launch::Internals::make_kernel(std::move(library), std::move(artifact), op, plan, launch);
  if (quick) launch::Internals::replace_later(*this, kernel, planned);
  return kernel;
}

const DeviceInfo& Runtime::device() const noexcept {
  return impl_->device;
}

Compiler& Runtime::compiler() noexcept {
  return impl_->compiler;
}

void Runtime::make_current() const {
  const driver::Table& driver = impl_->context->driver();
  driver::check(driver, driver.cuCtxSetCurrent_(impl_->context->handle()), "cuCtxSetCurrent");
}

void Runtime::synchronize() const {
  const driver::ContextScope scope(*impl_->context);
  const driver::Table& driver = impl_->context->driver();
  driver::check(driver, driver.cuCtxSynchronize_(), "cuCtxSynchronize");
  impl_->context->reports().raise();
}

const std::shared_ptr<const driver::Context>& memory::context_of(const Runtime& runtime) noexcept {
  return launch::Internals::context(runtime);
}

namespace launch {

Runtime Internals::make_runtime(Options options, const driver::Table& driver) {
  return Runtime(std::make_unique<Runtime::Impl>(std::move(options), driver));
}

Runtime Internals::make_runtime(Options options, const driver::Table& driver, CUcontext context) {
  return Runtime(std::make_unique<Runtime::Impl>(std::move(options), driver, context));
}

const std::shared_ptr<const driver::Context>& Internals::context(const Runtime& runtime) noexcept {
  return runtime.impl_->context;
}

Kernel Internals::make_kernel(std::shared_ptr<const Library> library, Artifact artifact,
                              const Operation& op, const operation::Plan& plan,
                              const operation::LaunchPlan& launch) {
  return Kernel(std::make_shared<const Kernel::Impl>(std::move(library), std::move(artifact), op,
                                                     plan, launch));
}

Kernel Internals::bind(const Kernel& kernel, SymbolValues values) {
  Kernel bound = kernel;
  bound.bound_ = std::make_shared<const SymbolValues>(std::move(values));
  return bound;
}

}  // namespace launch
}  // namespace tilejit
