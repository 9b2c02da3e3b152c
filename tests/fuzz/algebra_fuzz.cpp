// Any layouts as arguments of the algebra: "OP TEXT;TEXT", OP a letter. Refused by tilejit::Error,
// or answered by a layout that can be printed and read again; of known leaves, by one of the size
// the operation's definition gives.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "tilejit/error.hpp"
#include "tilejit/layout_algebra.hpp"

namespace {

using namespace tilejit;

void require(bool condition) {
  if (!condition) std::abort();
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
    default: return coalesce(a);
  }
}

void check(char op, const Layout& a, const Layout& b, const Layout& result) {
  require(parse_layout(to_string(result)) == result);
  const Dim all = size(result);
  if (op == 'a' && size(b).is_known()) require(!all.is_known() || all == size(b));
  if (op == 'n' && size(a).is_known()) require(all == size(a));
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
    // Refused, as many are.
  }
  return 0;
}
