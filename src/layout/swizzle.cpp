#include "tilejit/swizzle.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "layout/swizzle_reader.hpp"
#include "tilejit/error.hpp"

namespace tilejit {
namespace {

int read_small(layout::Reader& reader) {
  constexpr std::int64_t kMost = 62;
  const std::int64_t value = reader.read_integer();
  if (value > kMost) reader.fail("an integer of at most 62 before this");
  return static_cast<int>(value);
}

int log2_of(std::int64_t n) {
  if (n >= 1 && std::has_single_bit(static_cast<std::uint64_t>(n))) {
    return std::countr_zero(static_cast<std::uint64_t>(n));
  }
  throw Error(
      ErrorCode::invalid_argument,
      "elements that are swizzled are widened by a power of two, found " + std::to_string(n));
}

}  // namespace

Swizzle::Swizzle(int bits, int base, int shift) : bits_(bits), base_(base), shift_(shift) {
  const std::int64_t distance = std::abs(std::int64_t(shift));
  if (bits >= 0 && base >= 0 && distance >= bits && std::int64_t(base) + bits + distance <= 62) {
    return;
  }
  throw Error(ErrorCode::invalid_layout,
              "the swizzle " + to_string(*this) +
                  " needs bits and a base of at least 0, a shift by at least the bits, and " +
                  "at most 62 bits in all");
}

std::int64_t Swizzle::source_mask() const noexcept {
  return ((std::int64_t{1} << bits_) - 1) << (base_ + std::max(shift_, 0));
}

std::int64_t Swizzle::target_mask() const noexcept {
  return ((std::int64_t{1} << bits_) - 1) << (base_ - std::min(shift_, 0));
}

std::int64_t Swizzle::operator()(std::int64_t index) const noexcept {
  const std::int64_t source = index & source_mask();
  return index ^ (shift_ >= 0 ? source >> shift_ : source << -shift_);
}

std::string to_string(const Swizzle& swizzle) {
  return "Sw<" + std::to_string(swizzle.bits()) + "," + std::to_string(swizzle.base()) + "," +
         std::to_string(swizzle.shift()) + ">";
}

Swizzle layout::read_swizzle(Reader& reader) {
  if (!reader.accept('S')) reader.fail("'Sw<' or 'S<'");
  (void)reader.accept('w');
  if (!reader.accept('<')) reader.fail("'<'");
  const int bits = read_small(reader);
  if (!reader.accept(',')) reader.fail("',' and a base");
  const int base = read_small(reader);
  if (!reader.accept(',')) reader.fail("',' and a shift");
  const bool is_negative = reader.accept('-');
  const int shift = read_small(reader);
  if (!reader.accept('>')) reader.fail("'>'");
  return {bits, base, is_negative ? -shift : shift};
}

Swizzle parse_swizzle(std::string_view text) {
  layout::Reader reader(text);
  const Swizzle swizzle = layout::read_swizzle(reader);
  reader.expect_end();
  return swizzle;
}

Swizzle upcast(const Swizzle& swizzle, std::int64_t n) {
  const int base = swizzle.base() - log2_of(n);
  const int bits = std::max(swizzle.bits() + std::min(base, 0), 0);
  return {bits, std::max(base, 0), swizzle.shift()};
}

Swizzle downcast(const Swizzle& swizzle, std::int64_t n) {
  return {swizzle.bits(), swizzle.base() + log2_of(n), swizzle.shift()};
}

}  // namespace tilejit
