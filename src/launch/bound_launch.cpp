#include "tilejit/bound_launch.hpp"

#include "launch/bound_launch_impl.hpp"
#include "launch/internals.hpp"

namespace tilejit {

void launch::KernelNode::take_fields(const Kernel::Impl::Shape& shape, const std::byte* params) {
  values_ = std::make_unique<const std::vector<void*>>(Kernel::Impl::values_of(shape, params));
  params_.kernelParams = const_cast<void**>(values_->data());
}

BoundLaunch::Impl::Impl(std::shared_ptr<const Kernel::Impl> build, Kernel bound_kernel,
                        launch::Binder::Fixed arguments, const LaunchOptions& options)
    : kernel(std::move(build)), handle(std::move(bound_kernel)), fixed(std::move(arguments)) {
  const launch::BoundParams bound = fixed.bound();
  grids.assign(bound.grids.begin(), bound.grids.end());
  if (bound.any()) {
    kernel->limit(grids);
    if (options != LaunchOptions{}) kernel->check_options(grids, options);
    make_node();
  }
  attributes = launch::LaunchAttributes(options);
}

BoundLaunch::Impl::Impl(const Impl& other)
    : kernel(other.kernel),
      handle(other.handle),
      fixed(other.fixed),
      grids(other.grids),
      attributes(other.attributes) {
  if (other.node) make_node();
}

void BoundLaunch::Impl::make_node() {
  if (kernel->is_simple) node.emplace(kernel->shape(0, grids[0], 0), fixed.bound().params);
}

BoundLaunch::BoundLaunch(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
BoundLaunch::~BoundLaunch() = default;
BoundLaunch::BoundLaunch(const BoundLaunch& other) : impl_(std::make_unique<Impl>(*other.impl_)) {}
BoundLaunch::BoundLaunch(BoundLaunch&&) noexcept = default;
BoundLaunch& BoundLaunch::operator=(BoundLaunch&&) noexcept = default;

BoundLaunch& BoundLaunch::operator=(const BoundLaunch& other) {
  if (this != &other) impl_ = std::make_unique<Impl>(*other.impl_);
  return *this;
}

void BoundLaunch::launch(Stream stream) const {
  const Impl& self = *impl_;
  const launch::BoundParams bound = self.bound();
  if (bound.any()) self.kernel->current_of_plan().launch_bound(stream, bound, self.attributes);
}

void BoundLaunch::set(std::size_t argument, const Argument& value) {
  const Change change{argument, value};
  impl_->kernel->binder.rebind(impl_->fixed, {&change, 1});
}

void BoundLaunch::set(std::initializer_list<Change> changes) {
  impl_->kernel->binder.rebind(impl_->fixed, {changes.begin(), changes.size()});
}

const Kernel& BoundLaunch::kernel() const noexcept {
  return impl_->handle;
}

unsigned BoundLaunch::blocks() const noexcept {
  return impl_->grids.front().blocks;
}

BoundLaunch launch::Internals::make_bound(const Kernel& kernel, std::span<const Argument> args,
                                          const SymbolValues& symbols,
                                          const LaunchOptions& options) {
  std::shared_ptr<const Kernel::Impl> build(of(kernel), &of(kernel)->current());
  Binder::Fixed fixed = build->binder.fix(args, &symbols);
  return BoundLaunch(
      std::make_unique<BoundLaunch::Impl>(std::move(build), kernel, std::move(fixed), options));
}

}  // namespace tilejit
