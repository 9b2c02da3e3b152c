#include "launch/plain_binder.hpp"

#include <cstring>

#include "launch/overlap.hpp"
#include "launch/scalar_argument.hpp"

namespace tilejit::launch {

std::optional<PlainBinder> PlainBinder::make(const Binder& binder, std::uint32_t most_blocks) {
  const std::size_t tensors = binder.tensors_.size(), scalars = binder.scalars_.size();
  // Each argument is one parameter, and there are no others.
  const bool plain = binder.symbols_.size() == 0 && binder.steps_.size() == 1 &&
                     binder.steps_[0].sizes.empty() && binder.workspaces_.empty() &&
                     binder.pointers_.size() == tensors &&
                     binder.argument_count_ == tensors + scalars;
  if (!plain) return std::nullopt;
  const std::uint32_t blocks = binder.known_grids_[0].blocks;
  if (blocks == 0 || blocks > most_blocks || tensors > kMostTensors || scalars > kMostScalars ||
      binder.param_bytes_ > kMostParamBytes) {
    return std::nullopt;
  }
  PlainBinder made;
  made.grid_ = binder.known_grids_[0];
  made.tensor_count_ = static_cast<std::uint32_t>(tensors);
  made.scalar_count_ = static_cast<std::uint32_t>(scalars);
  for (std::size_t i = 0; i < tensors; ++i) {
    const BoundTensor& tensor = binder.tensors_[i];
    made.tensors_[i] = {.bytes = static_cast<std::uint64_t>(binder.known_.bytes[i]),
                        .low_bits = static_cast<std::uint32_t>(tensor.align) - 1,
                        .written = tensor.written};
  }
  for (const Binder::PointerField& field : binder.pointers_) {
    made.tensors_[static_cast<std::size_t>(field.tensor)].offset =
        static_cast<std::uint16_t>(field.offset);
  }
  for (const Binder::ScalarField& field : binder.scalars_) {
    made.scalars_[static_cast<std::size_t>(field.argument) - tensors] = {
        .offset = static_cast<std::uint16_t>(field.offset), .dtype = field.dtype};
  }
  return made;
}

bool PlainBinder::bind(std::span<const Argument> args,
                       std::span<std::byte, kMaxParamBytes> buffer) const noexcept {
  if (args.size() != tensor_count_ + scalar_count_) [[unlikely]]
    return false;
  std::byte* const out = buffer.data();
  std::memset(out, 0, kMostParamBytes);
  bool unusual = false;
  for (std::size_t i = 0; i < tensor_count_; ++i) {
    const std::uint64_t address = args[i].address;
    unusual |= args[i].kind != Argument::Kind::pointer || address == 0 ||
               (address & tensors_[i].low_bits) != 0 || (tensors_[i].written && overlaps(args, i));
    std::memcpy(out + tensors_[i].offset, &address, sizeof address);
  }
  for (std::size_t i = 0; i < scalar_count_; ++i) {
    const Scalar& scalar = scalars_[i];
    unusual |= !try_store_scalar(scalar.dtype, args[tensor_count_ + i], out + scalar.offset);
  }
  return !unusual;
}

inline bool PlainBinder::overlaps(std::span<const Argument> args,
                                  std::size_t written) const noexcept {
  const std::uint64_t begin = args[written].address;
  for (std::size_t i = 0; i < tensor_count_; ++i) {
    if (!are_apart(begin, tensors_[written].bytes, args[i].address, tensors_[i].bytes) &&
        i != written)
      return true;
  }
  return false;
}

}  // namespace tilejit::launch
