// A layout as a type of CUDA text.
#include <algorithm>
#include <bit>
#include <optional>
#include <set>

#include "core/text.hpp"
#include "layout/checked.hpp"
#include "layout/dim_function.hpp"
#include "layout/emit.hpp"
#include "layout/modes.hpp"

namespace tilejit::layout {
namespace {

/// Adds the symbols of `dim`. Throws Error{unsupported} if it is more than a product of them.
void add_symbols(const Dim& dim, std::set<std::string>& symbols) {
  if (!dim.is_product()) {
    throw Error(ErrorCode::unsupported, "a layout in a kernel needs numbers and symbols, found " +
                                            core::shortened(to_string(dim)) +
                                            "; give it a symbol of its own");
  }
  symbols.insert(dim.symbols().begin(), dim.symbols().end());
}

std::set<std::string> symbols_of(const Layout& layout) {
  std::set<std::string> symbols;
  for (const Mode& leaf : layout.leaves()) {
    add_symbols(leaf.extent, symbols);
    add_symbols(leaf.stride, symbols);
  }
  return symbols;
}

/// "(8 * dim_M)": an operand.
std::string product_of_members(const Dim& dim) {
  std::string product = dim.is_known() || dim.factor() != 1 ? std::to_string(dim.factor()) : "";
  for (const std::string& symbol : dim.symbols()) {
    product += (product.empty() ? "dim_" : " * dim_") + symbol;
  }
  return product.find(' ') == std::string::npos ? product : '(' + product + ')';
}

/// The end of the last block that the swizzle permutes and the layout reaches; nothing if that
/// depends on symbols.
std::optional<std::int64_t> end_of(const ComposedLayout& layout) {
  for (const Mode& leaf : layout.layout().leaves()) {
    if (!leaf.extent.is_known() || !leaf.stride.is_known()) return std::nullopt;
  }
  const std::int64_t inside = cosize(layout.layout());
  if (inside == 0) return 0;
  const std::int64_t end = checked_add(inside, layout.offset());
  const Swizzle& swizzle = layout.swizzle();
  const std::int64_t source = swizzle.source_mask();
  if (end <= (source & -source)) return end;  // no bit to xor with
  const auto target = static_cast<std::uint64_t>(swizzle.bits() == 0 ? 0 : swizzle.target_mask());
  const auto block = std::int64_t{1} << std::bit_width(target);
  return checked_multiply(end / block + (end % block != 0), block);
}

/// Writes one type.
class CallableWriter {
 public:
  CallableWriter(const ComposedLayout& layout, IndexBits bits)
      : layout_(layout), bits_(bits), type_(bits == IndexBits::b32 ? "i32" : "i64") {}

  std::string write(std::string_view name) {
    const Layout& inside = layout_.layout();
    out_ = "struct " + std::string(name) + " {  // " + to_string(layout_) + '\n';
    for (const std::string& symbol : symbols_of(inside)) line(type_ + " dim_" + symbol + ';');
    write_constants();
    write_extent();
    const std::span<const Mode> leaves = inside.leaves();
    write_call({&leaves, 1});
    if (rank(inside) > 1) {
      std::vector<Layout> modes;
      for (std::size_t i = 0; i < rank(inside); ++i) modes.push_back(mode(inside, i));
      std::vector<std::span<const Mode>> leaves_of_modes;
      for (const Layout& mode : modes) leaves_of_modes.push_back(mode.leaves());
      write_call(leaves_of_modes);
    }
    return out_ + "};\n";
  }

 private:
  void line(const std::string& text) { out_ += "  " + text + '\n'; }

  /// Throws Error{unsupported} unless the type holds all numbers up to `most`.
  void check(std::int64_t most) const {
    if (bits_ == IndexBits::b64 || most <= INT32_MAX) return;
    throw Error(ErrorCode::unsupported, core::shortened(to_string(layout_)) + " reaches " +
                                            std::to_string(most) +
                                            ", which is beyond 32 bits; use 64");
  }

  void write_constants() {
    line("static constexpr int rank = " + std::to_string(rank(layout_.layout())) + ';');
    const auto write = [&](const char* name, std::int64_t value) {
      check(value);
      line("static constexpr " + type_ + ' ' + name + " = " + std::to_string(value) + ';');
    };
    if (const Dim all = size(layout_.layout()); all.is_known()) write("size", all.value());
    if (const auto end = end_of(layout_)) write("cosize", *end);
  }

  void write_extent() {
    const Layout& inside = layout_.layout();
    std::string text;
    for (std::size_t i = 0; i < rank(inside); ++i) {
      const bool is_last = i + 1 == rank(inside);
      if (!is_last) text += "mode == " + std::to_string(i) + " ? ";
      text += product_of_members(size(mode(inside, i)));
      if (!is_last) text += " : ";
    }
    const char* const parameter = rank(inside) == 1 ? "int" : "int mode";
    line("__device__ constexpr " + type_ + " extent(" + parameter + ") const { return " + text +
         "; }");
  }

  void write_call(std::span<const std::span<const Mode>> modes) {
    const IndexStyle style{.dim = [this](const Dim& dim) {
      check(dim.factor());
      return product_of_members(dim);
    }};
    std::string parameters, sum;
    for (std::size_t i = 0; i < modes.size(); ++i) {
      const std::string coordinate = 'c' + std::to_string(i);
      const std::string term = emit(coalesced(modes[i]).span(), coordinate, style);
      if (!term.empty()) sum += (sum.empty() ? "" : " + ") + term;
      parameters += (i == 0 ? "" : ", ") + type_ + (term.empty() ? "" : ' ' + coordinate);
    }
    if (layout_.offset() != 0) {
      sum += (sum.empty() ? "" : " + ") + std::to_string(layout_.offset());
    }
    line("__device__ constexpr " + type_ + " operator()(" + parameters + ") const {");
    if (layout_.swizzle().bits() == 0) {
      line("  return " + (sum.empty() ? "0" : sum) + ";\n  }");
    } else {
      line("  const " + type_ + " index = " + (sum.empty() ? "0" : sum) + ';');
      line("  return " + emit_swizzle(layout_.swizzle(), "index") + ";\n  }");
    }
  }

  const ComposedLayout& layout_;
  IndexBits bits_;
  std::string type_, out_;
};

}  // namespace

std::string emit_callable(std::string_view name, const ComposedLayout& layout, IndexBits bits) {
  if (!core::is_identifier(name)) {
    throw Error(ErrorCode::invalid_argument,
                "a type of a kernel is named by an identifier, found '" +
                    core::shortened(std::string(name)) + "'");
  }
  return CallableWriter(layout, bits).write(name);
}

}  // namespace tilejit::layout
