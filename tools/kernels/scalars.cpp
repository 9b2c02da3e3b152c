// Values of scalars: converted to their dtype, and refused if the dtype cannot hold them.
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "common/command.hpp"
#include "kernels/bindings.hpp"
#include "tilejit/reference.hpp"

namespace tilejit::cli {
namespace {

// A value as a person wrote it. Messages begin with `what`.
struct Written {
  std::string what;
  std::string text;
};

struct IntegerRange {
  std::int64_t min = 0;
  std::uint64_t max = 1;
};

IntegerRange range_of(DType dtype) {
  if (dtype == b8) return {};
  const int unused = 64 - 8 * size_bytes(dtype);
  if (category(dtype) == Category::unsigned_integer) {
    return {0, std::numeric_limits<std::uint64_t>::max() >> unused};
  }
  const std::int64_t max = std::numeric_limits<std::int64_t>::max() >> unused;
  return {-max - 1, static_cast<std::uint64_t>(max)};
}

template <typename T>
std::errc parse(const std::string& text, T& value) {
  const char* end = text.data() + text.size();
  const auto [next, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && next != end ? std::errc::invalid_argument : error;
}

Argument integer_argument(DType dtype, const Written& written) {
  const IntegerRange range = range_of(dtype);
  std::int64_t value = 0;
  if (parse(written.text, value) == std::errc() && value >= range.min &&
      std::cmp_less_equal(value, range.max)) {
    return value;
  }
  std::uint64_t large = 0;  // above 2^63-1
  if (parse(written.text, large) == std::errc() && large <= range.max) return large;
  throw UsageError(fmt::format("{} is '{}'; {} takes a whole number from {} to {}", written.what,
                               written.text, to_string(dtype), range.min, range.max));
}

double rounded(DType dtype, double value) {
  std::array<std::byte, 8> stored{};
  encode(dtype, value, stored.data());
  return decode(dtype, stored.data());
}

Argument floating_argument(DType dtype, const Written& written) {
  double value = 0;
  const std::errc error = parse(written.text, value);
  if (error == std::errc::invalid_argument) {
    throw UsageError(fmt::format("{} is '{}', which is not a number", written.what, written.text));
  }
  // The result of rounding a value beyond the range: infinity, or the largest number of an f8 type.
  const double limit = rounded(dtype, std::numeric_limits<double>::infinity());
  const double result = rounded(dtype, value);
  if (error != std::errc() || (std::abs(result) == limit && std::abs(value) != limit)) {
    throw UsageError(fmt::format("{} is '{}', which is beyond the range of {}; pass a value in it",
                                 written.what, written.text, to_string(dtype)));
  }
  return result;
}

Written example_of(const Scalar& scalar) {
  const Number value = scalar.example.value_or(1);
  const double real = value.to<double>();
  // 3.0 is a whole number, too.
  const bool digits_only =
      !value.is_integer() && !is_floating(scalar.dtype) && std::trunc(real) == real;
  return {"the spec's example of " + scalar.name,
          digits_only ? fmt::format("{:.0f}", real) : to_string(value)};
}

}  // namespace

std::vector<Argument> bind_scalars(const Operation& op, const Assignments& values) {
  std::vector<Argument> result;
  for (const Scalar& scalar : op.scalars()) {
    const auto given = values.find(scalar.name);
    const Written written = given != values.end()
                                ? Written{"--scalars " + scalar.name, given->second}
                                : example_of(scalar);
    result.push_back(is_floating(scalar.dtype) ? floating_argument(scalar.dtype, written)
                                               : integer_argument(scalar.dtype, written));
  }
  return result;
}

}  // namespace tilejit::cli
