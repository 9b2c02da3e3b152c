#include "launch/scalar_argument.hpp"

#include <cmath>
#include <cstring>
#include <limits>

#include "tilejit/error.hpp"

namespace tilejit::launch {
namespace {

[[noreturn]] void fail(const std::string& name, DType dtype, const std::string& why) {
  throw Error(ErrorCode::invalid_argument,
              "scalar '" + name + "' of dtype " + std::string(to_string(dtype)) + " " + why,
              "/scalars/" + name);
}

std::string text_of(const Argument& argument) {
  if (argument.kind == Argument::Kind::floating) return std::to_string(argument.floating);
  if (argument.kind == Argument::Kind::unsigned_integer) {
    return std::to_string(static_cast<std::uint64_t>(argument.integer));
  }
  return std::to_string(argument.integer);
}

double floating_value(const Argument& argument) noexcept {
  switch (argument.kind) {
    case Argument::Kind::floating: return argument.floating;
    case Argument::Kind::unsigned_integer:
      return static_cast<double>(static_cast<std::uint64_t>(argument.integer));
    default: return static_cast<double>(argument.integer);
  }
}

/// True if `dtype`, an integer type or b8, holds the integer.
bool fits(DType dtype, const Argument& argument) noexcept {
  if (argument.kind == Argument::Kind::unsigned_integer) return dtype == u64;  // above 2^63-1
  if (dtype == b8) return argument.integer == 0 || argument.integer == 1;
  const int bits = 8 * size_bytes(dtype);
  if (category(dtype) == Category::signed_integer) {
    const std::int64_t max = std::numeric_limits<std::int64_t>::max() >> (64 - bits);
    return argument.integer >= -max - 1 && argument.integer <= max;
  }
  if (argument.integer < 0) return false;
  return bits == 64 || argument.integer < std::int64_t{1} << bits;
}

bool try_store_float(const Argument& argument, std::byte* out) noexcept {
  const double value = floating_value(argument);
  if (std::isfinite(value) && std::abs(value) > std::numeric_limits<float>::max()) return false;
  const auto narrow = static_cast<float>(value);
  std::memcpy(out, &narrow, sizeof narrow);
  return true;
}

[[noreturn]] void fail_to_store(DType dtype, const Argument& argument, const std::string& name) {
  if (argument.kind == Argument::Kind::pointer || argument.kind == Argument::Kind::tensor) {
    fail(name, dtype, "got a pointer; pass a number");
  }
  if (is_floating(dtype)) {
    fail(name, dtype, "computes in f32, which cannot hold " + text_of(argument));
  }
  if (argument.kind == Argument::Kind::floating) {
    fail(name, dtype, "got the floating value " + text_of(argument) + "; pass an integer");
  }
  fail(name, dtype, "cannot hold " + text_of(argument));
}

}  // namespace

bool try_store_scalar(DType dtype, const Argument& argument, std::byte* out) noexcept {
  if (argument.kind == Argument::Kind::pointer || argument.kind == Argument::Kind::tensor) {
    return false;
  }
  if (dtype == f64) {
    const double value = floating_value(argument);
    std::memcpy(out, &value, sizeof value);
    return true;
  }
  if (is_floating(dtype)) return try_store_float(argument, out);
  if (argument.kind == Argument::Kind::floating || !fits(dtype, argument)) return false;
  // Two's complement, little-endian: the low bytes are the narrower integer.
  std::memcpy(out, &argument.integer, static_cast<std::size_t>(size_bytes(dtype)));
  return true;
}

void store_scalar(DType dtype, const Argument& argument, const std::string& name, std::byte* out) {
  if (!try_store_scalar(dtype, argument, out)) fail_to_store(dtype, argument, name);
}

}  // namespace tilejit::launch
