#include "interop/tensor_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "tilejit/error.hpp"

namespace tilejit::interop {
namespace {

constexpr std::int64_t kElided = -1;  // represents "..." among the indices of a mode
constexpr std::size_t kMargin = 7;    // column of the first bracket, below "tensor("

/// The shown part of a top-level mode.
struct Shown {
  std::vector<std::int64_t> indices;
  std::vector<std::int64_t> offsets;  // of each index, in elements
};

void check_known(const Layout& layout) {
  const auto known = [](const Mode& leaf) {
    return leaf.extent.is_known() && leaf.stride.is_known();
  };
  if (std::ranges::all_of(layout.leaves(), known)) return;
  throw Error(ErrorCode::unsupported, "a tensor of the layout " + to_string(layout) +
                                          " cannot be printed: give its symbols values "
                                          "(substitute)");
}

Shown shown_of(const Layout& mode, const PrintOptions& options) {
  const std::int64_t extent = size(mode).value();
  const std::int64_t edge = options.edge_items;
  Shown shown;
  if (options.verbose || extent <= 2 * edge) {
    shown.indices.resize(static_cast<std::size_t>(extent));
    std::iota(shown.indices.begin(), shown.indices.end(), 0);
  } else {
    for (std::int64_t i = 0; i < edge; ++i) shown.indices.push_back(i);
    shown.indices.push_back(kElided);
    for (std::int64_t i = extent - edge; i < extent; ++i) shown.indices.push_back(i);
  }
  for (const std::int64_t index : shown.indices) {
    shown.offsets.push_back(index == kElided ? 0 : mode(index));
  }
  return shown;
}

/// The modes of the text's brackets, outermost first. The first two modes are the rows and columns
/// of a matrix; all others come before them.
std::vector<std::size_t> bracket_order(std::size_t rank) {
  std::vector<std::size_t> order;
  for (std::size_t mode = rank; mode > 2; --mode) order.push_back(mode - 1);
  for (std::size_t mode = 0; mode < std::min<std::size_t>(rank, 2); ++mode) order.push_back(mode);
  return order;
}

/// True for a tensor without modes, which has one element.
bool has_no_modes(const Layout& layout) {
  return layout == Layout();
}

class Text {
 public:
  Text(const Layout& layout, const PrintOptions& options, const ElementText& element)
      : element_(element), order_(bracket_order(rank(layout))) {
    if (has_no_modes(layout)) return;
    for (std::size_t m = 0; m < rank(layout); ++m) {
      modes_.push_back(shown_of(mode(layout, m), options));
    }
  }

  std::string brackets() {
    text_.assign(kMargin, ' ');
    const bool empty =
        std::ranges::any_of(modes_, [](const Shown& m) { return m.indices.empty(); });
    if (empty) {
      text_ += "[]";
    } else if (modes_.empty()) {
      text_ += element_(0);
    } else if (modes_.size() == 1) {
      column();
    } else {
      bracket(0, 0);
    }
    return text_ + ")\n";
  }

  /// The text, in which the last mode changes fastest.
  std::string lines() {
    text_.clear();
    line(0, 0, "");
    return text_ + ")\n";
  }

 private:
  /// A single mode: each element has its own bracket.
  void column() {
    const Shown& only = modes_.front();
    for (std::size_t i = 0; i < only.indices.size(); ++i) {
      if (i > 0) separate(only, i, 1, kMargin);
      if (only.indices[i] == kElided) {
        text_ += "...";
      } else {
        text_ += fmt::format("[{}, ]", element_(only.offsets[i]));
      }
    }
  }

  void bracket(std::size_t level, std::int64_t offset) {
    const Shown& shown = modes_[order_[level]];
    const std::size_t below = order_.size() - level - 1;
    text_ += '[';
    for (std::size_t i = 0; i < shown.indices.size(); ++i) {
      const bool elided = shown.indices[i] == kElided;
      if (below == 0) {
        text_ += (elided ? "..." : element_(offset + shown.offsets[i])) + ", ";
        continue;
      }
      if (i > 0) separate(shown, i, below, kMargin + level + 1);
      if (elided) {
        text_ += "...";
      } else {
        bracket(level + 1, offset + shown.offsets[i]);
      }
    }
    text_ += ']';
  }

  void separate(const Shown& shown, std::size_t i, std::size_t newlines, std::size_t margin) {
    if (shown.indices[i - 1] != kElided) text_ += ',';
    text_.append(newlines, '\n').append(margin, ' ');
  }

  void line(std::size_t m, std::int64_t offset, const std::string& coordinate) {
    if (m == modes_.size()) {
      text_ += fmt::format("\t({})={}\n", coordinate, element_(offset));
      return;
    }
    const std::string before = m == 0 ? "" : coordinate + ",";
    for (std::size_t i = 0; i < modes_[m].indices.size(); ++i) {
      line(m + 1, offset + modes_[m].offsets[i], before + std::to_string(modes_[m].indices[i]));
    }
  }

  const ElementText& element_;
  std::vector<std::size_t> order_;
  std::vector<Shown> modes_;
  std::string text_;
};

}  // namespace

std::string_view name_of(MemorySpace space) {
  constexpr std::array<std::string_view, 5> kNames = {"generic", "gmem", "smem", "rmem", "tmem"};
  return kNames[static_cast<std::size_t>(space)];
}

std::string layout_text(const Layout& layout) {
  if (depth(layout) > 0 || has_no_modes(layout)) return to_string(layout);
  return fmt::format("({}):({})", to_string(layout.shape()), to_string(layout.stride()));
}

std::string text_after(const std::string& heading, const Layout& layout,
                       const PrintOptions& options, const ElementText& element) {
  if (options.edge_items < 1) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("edge_items is {}; use 1 or more", options.edge_items));
  }
  check_known(layout);
  Text text(layout, options, element);
  return heading + ", data=" + (options.verbose ? " (\n" + text.lines() : "\n" + text.brackets());
}

std::string tensor_text(DType dtype, const Layout& layout, std::uint64_t address,
                        const PrintOptions& options, const Reader& read) {
  const std::string heading =
      fmt::format("tensor(raw_ptr(0x{:016x}: {}, {}, align<{}>) o {}", address, to_string(dtype),
                  name_of(options.space.value_or(MemorySpace::generic)),
                  options.align > 0 ? options.align : size_bytes(dtype), layout_text(layout));
  return text_after(heading, layout, options,
                    [&](std::int64_t offset) { return element_text(dtype, read(offset)); });
}

std::vector<std::int64_t> shown_offsets(const Layout& layout, const PrintOptions& options) {
  std::vector<std::int64_t> offsets;
  const std::byte zero{0};
  (void)tensor_text(u8, layout, 0, options, [&](std::int64_t offset) {
    offsets.push_back(offset);
    return &zero;
  });
  std::ranges::sort(offsets);
  offsets.erase(std::unique(offsets.begin(), offsets.end()), offsets.end());
  return offsets;
}

}  // namespace tilejit::interop

namespace tilejit {

std::string print_tensor(DType dtype, const Layout& layout, const void* data,
                         const PrintOptions& options) {
  const auto* bytes = static_cast<const std::byte*>(data);
  const std::int64_t element = size_bytes(dtype);
  return interop::tensor_text(dtype, layout, reinterpret_cast<std::uintptr_t>(data), options,
                              [&](std::int64_t offset) {
                                if (bytes != nullptr) return bytes + offset * element;
                                throw Error(ErrorCode::invalid_argument,
                                            "the tensor to print is a null pointer; pass its "
                                            "memory");
                              });
}

}  // namespace tilejit
