// Launches whose sizes are fixed and whose addresses and scalars may change.

#include <string>

#include "launch/binder.hpp"
#include "tilejit/error.hpp"

namespace tilejit::launch {
namespace {

/// A copy without the members that point to the caller's memory.
Argument without_shape(const Argument& given) noexcept {
  Argument own = given;
  if (own.kind != Argument::Kind::tensor) return own;
  own.kind = Argument::Kind::pointer;
  own.shape = own.stride = {};
  return own;
}

}  // namespace

Binder::Fixed Binder::fix(std::span<const Argument> args, const SymbolValues* symbols) const {
  check_count(args);
  for (const BoundTensor& tensor : tensors_) tensor.check_form(args[tensor.argument]);
  Fixed fixed;
  fixed.values_ = std::make_shared<std::vector<std::int64_t>>(room());
  fixed.sizes_ = solve(args, symbols, *fixed.values_);
  for (const Argument& argument : args) fixed.args_.push_back(without_shape(argument));
  fixed.grids_.resize(steps_.size());
  make_grids(fixed.sizes_, fixed.grids_);
  fixed.params_.resize(param_bytes_);
  if (fixed.sizes_.any) write_sizes(fixed.sizes_, fixed.params_.data());
  write_changed(fixed);
  return fixed;
}

void Binder::write_changed(Fixed& fixed) const {
  if (!fixed.sizes_.any) return;
  write_arguments(fixed.args_, fixed.sizes_, fixed.params_.data());
}

void Binder::rebind(Fixed& fixed, std::span<const BoundLaunch::Change> changes) const {
  for (const BoundLaunch::Change& change : changes) check_change(fixed, change);
  fixed.before_ = fixed.args_;  // allocates only the first time
  if (encoder_) [[unlikely]]
    fixed.params_before_ = fixed.params_;
  for (const BoundLaunch::Change& change : changes) {
    fixed.args_[change.argument] = without_shape(change.value);
  }
  try {
    write_changed(fixed);
  } catch (...) {
    fixed.args_ = fixed.before_;
    if (encoder_) {
      fixed.params_ = fixed.params_before_;  // what the driver refused once it may refuse again
    } else {
      write_changed(fixed);
    }
    throw;
  }
}

void Binder::check_change(const Fixed& fixed, const BoundLaunch::Change& change) const {
  if (change.argument >= argument_count_) {
    throw Error(ErrorCode::invalid_argument,
                "there is no argument " + std::to_string(change.argument) +
                    ": a launch of this kernel takes " + std::to_string(argument_count_) +
                    ", counted from 0");
  }
  if (change.argument >= tensors_.size()) return;
  const BoundTensor& tensor = tensors_[change.argument];
  tensor.check_form(change.value);
  tensor.check_layout(change.value, fixed.sizes_.dims);
}

}  // namespace tilejit::launch
