#include "launch/binder.hpp"

#include <array>
#include <cstring>
#include <memory>

#include "launch/scalar_argument.hpp"
#include "launch/symbol_solver.hpp"
#include "tilejit/error.hpp"

namespace tilejit::launch {
namespace {

/// Room for the numbers of one launch: on the stack where they are few enough, as nearly always.
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

Grid Binder::bind(std::span<const Argument> args, const SymbolValues* symbols,
                  ParamBuffer buffer) const {
  check_count(args);
  for (const BoundTensor& tensor : tensors_) tensor.check_form(args[tensor.argument]);
  if (symbols_.size() != 0) return bind_symbolic(args, symbols, buffer);
  if (symbols != nullptr && !symbols->empty()) {
    SymbolSolver(symbols_, dims_, tensors_, {}, {}).take_named(*symbols);  // none has a place
  }
  check_layouts(args, known_);
  if (known_.grid.blocks == 0) return known_.grid;
  std::memcpy(buffer.data(), image_.data(), param_bytes_);
  write_arguments(args, known_, buffer.data());
  return known_.grid;
}

Grid Binder::bind_symbolic(std::span<const Argument> args, const SymbolValues* symbols,
                           ParamBuffer buffer) const {
  Workspace workspace(room());
  const Sizes sizes = solve(args, symbols, workspace.all());
  if (sizes.grid.blocks == 0) return sizes.grid;
  write_sizes(sizes, buffer.data());
  write_arguments(args, sizes, buffer.data());
  return sizes.grid;
}

std::size_t Binder::room() const noexcept {
  return 2 * symbols_.size() + dims_.size() + tensors_.size();
}

Binder::Sizes Binder::solve(std::span<const Argument> args, const SymbolValues* symbols,
                            std::span<std::int64_t> room) const {
  const std::size_t slots = symbols_.size();
  const std::span<std::int64_t> values = room.first(slots);
  SymbolSolver solver(symbols_, dims_, tensors_, values, room.subspan(slots, slots));
  if (symbols != nullptr) solver.take_named(*symbols);
  solver.solve(args);
  Sizes sizes{.dims = room.subspan(2 * slots, dims_.size()),
              .bytes = room.subspan(2 * slots + dims_.size(), tensors_.size())};
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
      if (sizes.bytes[i] > 0) fail_address(tensors_[i], address);  // nobody reads an empty tensor
    }
  }
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
