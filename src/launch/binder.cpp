#include "launch/binder.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "launch/scalar_argument.hpp"
#include "launch/symbol_solver.hpp"
#include "tilejit/error.hpp"

namespace tilejit::launch {
namespace {

/// Room for the numbers of one launch: on the stack if they are few, which is nearly always so.
class Workspace {
 public:
  explicit Workspace(std::size_t count) : count_(count) {
    if (count > few_.size()) many_ = std::make_unique_for_overwrite<std::int64_t[]>(count);
  }
  [[nodiscard]] std::span<std::int64_t> all() noexcept {
    return {many_ ? many_.get() : few_.data(), count_};
  }

 private:
  std::array<std::int64_t, 128> few_;
  std::unique_ptr<std::int64_t[]> many_;
  std::size_t count_;
};

}  // namespace

ParamSpace::ParamSpace(std::size_t param_bytes, std::size_t step_count) {
  if (param_bytes > few_params_.size()) many_params_.resize(param_bytes);
  if (step_count > few_grids_.size()) many_grids_.resize(step_count);
  params_ = many_params_.empty() ? std::span(few_params_) : std::span(many_params_);
  params_ = params_.first(param_bytes);
  grids_ = many_grids_.empty() ? std::span(few_grids_) : std::span(many_grids_);
  grids_ = grids_.first(step_count);
}

BoundParams Binder::bind(std::span<const Argument> args, const SymbolValues* symbols,
                         ParamSpace& space) const {
  check_count(args);
  for (const BoundTensor& tensor : tensors_) tensor.check_form(args[tensor.argument]);
  if (symbols_.size() != 0) return bind_symbolic(args, symbols, space);
  if (symbols != nullptr && !symbols->empty()) {
    // Refuses every name: there are no symbols.
    SymbolSolver(symbols_, dims_, tensors_, {}, {}).take_named(*symbols);
  }
  check_layouts(args, known_);
  const BoundParams bound{space.params().data(), space.grids(), known_.workspace_bytes};
  std::ranges::copy(known_grids_, space.grids().begin());
  if (!known_.any) return bound;
  std::memcpy(space.params().data(), image_.data(), param_bytes_);
  write_arguments(args, known_, space.params().data());
  return bound;
}

BoundParams Binder::bind_symbolic(std::span<const Argument> args, const SymbolValues* symbols,
                                  ParamSpace& space) const {
  Workspace workspace(room());
  const Sizes sizes = solve(args, symbols, workspace.all());
  const BoundParams bound{space.params().data(), space.grids(), sizes.workspace_bytes};
  make_grids(sizes, space.grids());
  if (!sizes.any) return bound;
  write_sizes(sizes, space.params().data());
  write_arguments(args, sizes, space.params().data());
  return bound;
}

std::size_t Binder::size_count() const noexcept {
  return dims_.size() + tensors_.size() + steps_.size() + workspaces_.size() + shape_numbers_;
}

Binder::Sizes Binder::place(std::span<std::int64_t> room) const noexcept {
  const auto take = [&room](std::size_t count) {
    const std::span<std::int64_t> taken = room.first(count);
    room = room.subspan(count);
    return taken;
  };
  Sizes sizes;
  sizes.dims = take(dims_.size());
  sizes.bytes = take(tensors_.size());
  sizes.totals = take(steps_.size());
  sizes.workspaces = take(workspaces_.size());
  sizes.shapes = take(shape_numbers_);
  return sizes;
}

std::size_t Binder::room() const noexcept {
  return 2 * symbols_.size() + size_count();
}

Binder::Sizes Binder::solve(std::span<const Argument> args, const SymbolValues* symbols,
                            std::span<std::int64_t> room) const {
  const std::size_t slots = symbols_.size();
  const std::span<std::int64_t> values = room.first(slots);
  SymbolSolver solver(symbols_, dims_, tensors_, values, room.subspan(slots, slots));
  if (symbols != nullptr) solver.take_named(*symbols);
  solver.solve(args);
  Sizes sizes = place(room.subspan(2 * slots));
  evaluate(values, sizes);
  check_layouts(args, sizes);
  return sizes;
}

void Binder::check_count(std::span<const Argument> args) const {
  if (args.size() == argument_count_) [[likely]]
    return;
  throw Error(ErrorCode::invalid_argument, "a launch of this kernel takes " +
                                               std::to_string(argument_count_) + " arguments (" +
                                               std::to_string(tensors_.size()) + " tensors, then " +
                                               std::to_string(argument_count_ - tensors_.size()) +
                                               " scalars), not " + std::to_string(args.size()));
}

void Binder::check_layouts(std::span<const Argument> args, const Sizes& sizes) const {
  for (const BoundTensor& tensor : tensors_) {
    const Argument& argument = args[tensor.argument];
    if (argument.kind == Argument::Kind::tensor) tensor.check_layout(argument, sizes.dims);
  }
}

void Binder::write_arguments(std::span<const Argument> args, const Sizes& sizes,
                             std::byte* out) const {
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    const std::uint64_t address = args[tensors_[i].argument].address;
    const auto low_bits = static_cast<std::uint64_t>(tensors_[i].align) - 1;
    if (address == 0 || (address & low_bits) != 0) [[unlikely]] {
      // An empty tensor is never accessed.
      if (sizes.bytes[i] > 0) fail_address(tensors_[i], address);
    }
  }
  if (encoder_) [[unlikely]]
    write_tensor_maps(args, sizes, out);
  check_overlaps(args, sizes);
  for (const PointerField& field : pointers_) {
    std::memcpy(out + field.offset, &args[field.tensor].address, sizeof(std::uint64_t));
  }
  for (const ScalarField& field : scalars_) {
    store_scalar(field.dtype, args[field.argument], field.name, out + field.offset);
  }
}

void Binder::fail_address(const BoundTensor& tensor, std::uint64_t address) const {
  if (address == 0) tensor.fail("is a null pointer; pass device memory");
  std::uint64_t aligned = 1;
  while ((address & aligned) == 0) aligned *= 2;
  tensor.fail("is aligned to " + std::to_string(aligned) + " bytes only; the descriptor promises " +
              std::to_string(tensor.align) + ": pass aligned memory, or describe it with align " +
              std::to_string(aligned));
}

}  // namespace tilejit::launch
