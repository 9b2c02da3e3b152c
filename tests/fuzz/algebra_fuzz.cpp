// Any layouts as arguments of the algebra: "OP TEXT;TEXT", OP a letter. They are refused with a
// tilejit::Error, or the answer is a layout that can be printed and read again. Exact composition,
// coalesce and is_injective are checked against their definitions if the sizes allow it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <set>
#include <string_view>

#include "tilejit/error.hpp"
#include "tilejit/indexing.hpp"
#include "tilejit/tv.hpp"

namespace {

using namespace tilejit;

void require(bool condition) {
  if (!condition) std::abort();
}

/// Operations whose results are not layouts must only be refused or return.
void evaluate(const Layout& a, const Layout& b) {
  const std::int64_t number = 7;
  (void)a(number);
  (void)idx2crd(number, a.shape());
  (void)contiguous_vector(a);
  (void)common_alignment(a);
  (void)compatible(a.shape(), b.shape());
  (void)max_alignment(a);
  (void)bank_conflicts(a, ComposedLayout(Swizzle(3, 3, 3), 0, b), 4, 4);
}

Layout answer(char op, const Layout& a, const Layout& b) {
  switch (op) {
    case 'a': return composition(a, b);
    case 'b': return composition(a, b, Exactness::as_cute);
    case 'c': return complement(a, b.shape());
    case 'd': return logical_divide(a, b);
    case 'e': return zipped_divide(a, b);
    case 'f': return flat_divide(a, Tiler{b, 4});
    case 'g': return logical_product(a, b);
    case 'h': return blocked_product(a, b);
    case 'i': return raked_product(a, b);
    case 'j': return right_inverse(a);
    case 'k': return left_inverse(a);
    case 'l': return coalesce(a, b.shape());
    case 'm': return filter(a);
    case 'o': return nullspace(a);
    case 'p': return upcast(a, 4);
    case 'q': return downcast(a, 4);
    case 'r': return tile_to_shape(a, b.shape());
    case 's': return make_layout_tv(a, b).layout_tv;
    case 't': return max_common_layout(a, b);
    case 'u': return make_ordered_layout(a.shape(), b.shape());
    case 'v': return make_layout_like(a);
    case 'w': return slice({_, 1}, a).layout;
    case 'x': return composition(ComposedLayout(Swizzle(3, 0, 3), 8, a), b).layout();
    case 'y': return composition(a, ComposedLayout(Swizzle(2, 1, 3), 0, b)).layout();
    case 'z': return evaluate(a, b), a;
    default: return coalesce(a);
  }
}

bool is_small(const Layout& layout) {
  const auto is_known = [](const Mode& mode) {
    return mode.extent.is_known() && mode.stride.is_known() && mode.stride.value() < (1 << 20);
  };
  return std::ranges::all_of(layout.leaves(), is_known) && size(layout).value() <= 1024;
}

void check_injective(const Layout& a) {
  const std::optional<bool> claim = is_injective(a);
  if (!claim || !is_small(a)) return;
  std::set<std::int64_t> seen;
  bool is_new = true;
  for (std::int64_t i = 0; i < size(a).value(); ++i) is_new = seen.insert(a(i)).second && is_new;
  require(*claim == is_new);
}

void check(char op, const Layout& a, const Layout& b, const Layout& result) {
  require(parse_layout(to_string(result)) == result);
  if (op == 'n') {
    check_injective(a);
    if (size(a).is_known()) require(size(result) == size(a));
  }
  if (op != 'a' || !is_small(a) || !is_small(b)) return;
  require(size(result) == size(b));
  for (std::int64_t i = 0; i < size(b).value(); ++i) {
    require(result(i) == a(b(i)));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t split = text.find(';');
  if (split == std::string_view::npos || split < 2) return 0;
  try {
    const Layout a = parse_layout(text.substr(1, split - 1)),
                 b = parse_layout(text.substr(split + 1));
    check(text[0], a, b, answer(text[0], a, b));
  } catch (const Error&) {
    // Refused, like many inputs.
  }
  return 0;
}
