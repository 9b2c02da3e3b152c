#include "tilejit/bound_launch.hpp"

#include "launch/internals.hpp"
#include "launch/kernel_impl.hpp"

namespace tilejit {

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
  const std::shared_ptr<const Kernel::Impl> build(of(kernel), &of(kernel)->current());
  const Kernel::Impl& impl = *build;
  Binder::Fixed fixed = impl.binder.fix(args, &symbols);
  const BoundParams bound = fixed.bound();
  std::vector<Grid> grids(bound.grids.begin(), bound.grids.end());
  if (bound.any()) {
    impl.limit(grids);
    if (options != LaunchOptions{}) impl.check_options(grids, options);
  }
  return BoundLaunch(std::unique_ptr<BoundLaunch::Impl>(new BoundLaunch::Impl{
      build, kernel, std::move(fixed), std::move(grids), LaunchAttributes(options)}));
}

}  // namespace tilejit
