// Compiles a Binder.

#include <bit>
#include <limits>
#include <vector>

#include "launch/bind_program.hpp"
#include "launch/binder.hpp"

namespace tilejit::launch {

/// Maps a Binder's symbols and dimensions to their places in TensorSizes.
class BindProgram::Maker {
 public:
  Maker(const Binder& binder, std::int64_t most_blocks)
      : binder_(binder), places_(binder.symbols_.size()), dims_(binder.dims_.size()) {
    made_.most_blocks_ = most_blocks;
    made_.tensors_ = static_cast<std::uint16_t>(binder.tensors_.size());
    made_.arguments_ = static_cast<std::uint16_t>(binder.argument_count_);
    fits_ = binder.steps_.size() == 1 && binder.workspaces_.empty() && binder.maps_.empty() &&
            binder.param_bytes_ <= kMaxParamBytes && binder.tensors_.size() <= kMaxTensors;
  }

  std::optional<BindProgram> of_known_sizes() {
    fits_ = fits_ && binder_.symbols_.size() == 0 && step().sizes.empty();
    if (!fits_) return std::nullopt;
    const Grid grid = binder_.known_grids_.front();
    if (grid.blocks == 0 || grid.blocks > made_.most_blocks_ || grid.wide) return std::nullopt;
    made_.known_blocks_ = grid.blocks;
    add_arguments([&](std::size_t t) { return binder_.tensors_[t].align - 1; });
    add_outputs();
    for (std::size_t t = 0; t < binder_.tensors_.size(); ++t) {
      add(std::bit_cast<Item>(binder_.known_.bytes[t]));
    }
    return fits_ ? std::optional(made_) : std::nullopt;
  }

  std::optional<BindProgram> of_kind(std::span<const Argument> args) {
    if (!fits_ || step().shape != nullptr) return std::nullopt;
    made_.kind_ = Argument::Kind::tensor;
    place_tensors(args);
    find_symbols();
    add_products();
    add_units();
    add_sizes();
    add_arguments([](std::size_t) { return 0; });  // alignment is a part of the kind
    add_outputs();
    return fits_ ? std::optional(made_) : std::nullopt;
  }

 private:
  using Kind = operation::Param::Kind;

  [[nodiscard]] const Binder::Step& step() const noexcept { return binder_.steps_.front(); }
  [[nodiscard]] std::uint8_t end() const noexcept { return static_cast<std::uint8_t>(count_); }
  void add(std::size_t a, std::size_t b, std::int64_t c) {
    constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
    fits_ = fits_ && c <= kMost;
    add({static_cast<std::uint16_t>(a), static_cast<std::uint16_t>(b),
         static_cast<std::uint32_t>(c)});
  }
  void add(const Item& item) {
    fits_ = fits_ && count_ < made_.items_.size();
    if (fits_) made_.items_[count_++] = item;
  }
  /// log2 of a power of two; others do not fit.
  std::int64_t log2_of(std::int64_t value) {
    const auto bits = static_cast<std::uint64_t>(value);
    fits_ = fits_ && std::has_single_bit(bits);
    return std::countr_zero(bits);
  }

  /// A tensor without modes has a layout with one mode of extent 1, and no numbers.
  void place_tensors(std::span<const Argument> args) {
    for (const BoundTensor& tensor : binder_.tensors_) {
      const std::size_t rank = args[first_.size()].shape.size();
      fits_ = fits_ && (rank == tensor.leaves.size() || rank == 0);
      ranks_.push_back(rank);
      first_.push_back(next_);
      next_ += 2 * rank;
    }
    made_.computed_ = static_cast<std::uint16_t>(next_);
  }

  void find_symbols() {
    for (std::size_t t = 0; t < ranks_.size(); ++t) {
      for (std::size_t i = 0; i < ranks_[t]; ++i) take_extent(t, i);
    }
    made_.ends_.equal = end();
    for (std::size_t t = 0; t < ranks_.size(); ++t) {
      for (std::size_t i = 0; i < ranks_[t]; ++i) take_stride(t, i);
    }
    for (const std::size_t place : places_) fits_ = fits_ && place != 0;
  }
  /// Extents named by the same symbol need not be equal, since kinds do not tell that.
  void take_extent(std::size_t t, std::size_t i) {
    const SlotDim& dim = binder_.dims_[binder_.tensors_[t].extents[i]];
    const std::size_t at = first_[t] + 2 * i;
    if (dim.alone() < 0) {
      fits_ = fits_ && dim.slots().empty();
    } else if (std::size_t& place = places_[static_cast<std::size_t>(dim.alone())]; place == 0) {
      place = at;
    } else {
      add(place, at, 0);
    }
  }
  /// For strides that are products of extents, the kind guarantees that they are.
  void take_stride(std::size_t t, std::size_t i) {
    const SlotDim& dim = binder_.dims_[binder_.tensors_[t].strides[i]];
    if (dim.alone() < 0) return;
    std::size_t& place = places_[static_cast<std::size_t>(dim.alone())];
    if (place == 0) place = first_[t] + 2 * i + 1;
  }

  void add_products() {
    for (const Binder::Count& count : step().units) add_dim(count.extent);
    for (const Binder::SizeField& field : step().sizes) {
      if (field.kind != Kind::total) add_dim(field.dim);
    }
    made_.ends_.products = end();
    total_ = next_;
  }
  void add_dim(int number) {
    const SlotDim& dim = binder_.dims_[number];
    std::size_t& place = dims_[static_cast<std::size_t>(number)];
    if (place != 0) return;
    if (dim.alone() >= 0) {
      place = places_[static_cast<std::size_t>(dim.alone())];
      return;
    }
    const std::vector<int>& slots = dim.slots();
    const auto symbol = [&](std::size_t i) {  // number 0 has the value 1
      return i < slots.size() ? places_[static_cast<std::size_t>(slots[i])] : 0;
    };
    place = add_product(symbol(0), symbol(1), dim.factor());
    for (std::size_t i = 2; i < slots.size(); ++i) place = add_product(place, symbol(i), 1);
  }
  std::size_t add_product(std::size_t a, std::size_t b, std::int64_t factor) {
    add(a, b, factor);
    return next_++;
  }

  void add_units() {
    for (const Binder::Count& count : step().units) {
      add(place_of(count.extent), 0, log2_of(count.unit));
    }
    made_.ends_.units = end();
    made_.log2_units_a_block_ = static_cast<std::uint32_t>(log2_of(step().units_per_block));
    made_.blocks_a_unit_ = step().blocks_per_unit;
  }

  void add_sizes() {
    for (const Binder::SizeField& field : step().sizes) {
      if (field.kind == Kind::divisor) continue;
      add(field.kind == Kind::total ? total_ : place_of(field.dim), offset(field), 0);
    }
    made_.ends_.numbers = end();
    for (const Binder::SizeField& field : step().sizes) {
      if (field.kind != Kind::divisor) continue;
      add(place_of(field.dim), offset(field), log2_of(field.per));
    }
    made_.ends_.divisors = end();
  }
  /// `low_bits(t)`: the low bits that must be 0 in the address of tensor t.
  void add_arguments(const auto& low_bits) {
    for (const Binder::PointerField& field : binder_.pointers_) {
      const auto t = static_cast<std::size_t>(field.tensor);
      add(t, offset(field), low_bits(t));
    }
    made_.ends_.pointers = end();
    for (const Binder::ScalarField& field : binder_.scalars_) {
      add(static_cast<std::size_t>(field.argument), offset(field),
          static_cast<std::int64_t>(field.dtype));
    }
    made_.ends_.scalars = end();
  }
  static std::size_t offset(const auto& field) { return static_cast<std::size_t>(field.offset); }
  [[nodiscard]] std::size_t place_of(int dim) const { return dims_[static_cast<std::size_t>(dim)]; }

  void add_outputs() {
    for (const std::size_t output : binder_.written_) {
      std::int64_t replaced = std::int64_t{1} << output;
      for (std::size_t t = 0; t < binder_.tensors_.size(); ++t) {
        if (!binder_.tensors_[t].written && same_elements(output, t)) {
          replaced |= std::int64_t{1} << t;
        }
      }
      add(output, 0, replaced);
    }
    made_.ends_.outputs = end();
  }
  /// True if two tensors with the same address have equal elements at equal places, for all sizes.
  [[nodiscard]] bool same_elements(std::size_t a, std::size_t b) const {
    return binder_.tensors_[a].element_bytes == binder_.tensors_[b].element_bytes &&
           binder_.elements_[a] == binder_.elements_[b];
  }

  static constexpr std::size_t kMaxTensors = 32;  // limited by the bits of an Item

  const Binder& binder_;
  BindProgram made_;
  bool fits_ = true;
  std::size_t count_ = 0;  // of items
  std::size_t next_ = 1;   // next free number
  // Numbers: for each tensor its first; for each symbol and dimension its own, or 0 if it has none.
  std::vector<std::size_t> ranks_, first_, places_, dims_;
  std::size_t total_ = 0;
};

std::optional<BindProgram> BindProgram::of_known_sizes(const Binder& binder,
                                                       std::int64_t most_blocks) {
  return Maker(binder, most_blocks).of_known_sizes();
}

std::optional<BindProgram> BindProgram::of_kind(const Binder& binder,
                                                std::span<const Argument> args,
                                                std::int64_t most_blocks) {
  return Maker(binder, most_blocks).of_kind(args);
}

}  // namespace tilejit::launch
