#include "launch/scalar_argument.hpp"

#include <cstring>

#include "core/scalar_value.hpp"

namespace tilejit::launch {
namespace {

bool is_number(const Argument& argument) noexcept {
  return argument.kind != Argument::Kind::pointer && argument.kind != Argument::Kind::tensor;
}

template <class T>
void store(T value, std::byte* out) noexcept {
  std::memcpy(out, &value, sizeof value);
}

}  // namespace

bool try_store_scalar(DType dtype, const Argument& argument, std::byte* out) noexcept {
  if (!is_number(argument)) return false;
  const Number value = argument.number();
  if (!fits(dtype, value)) return false;
  if (dtype == f64) {
    store(value.to<double>(), out);
  } else if (is_floating(dtype)) {
    store(value.to<float>(), out);
  } else {  // little-endian two's complement: the low bytes are the narrower integer
    std::memcpy(out, &argument.integer, static_cast<std::size_t>(size_bytes(dtype)));
  }
  return true;
}

void store_scalar(DType dtype, const Argument& argument, const std::string& name, std::byte* out) {
  if (try_store_scalar(dtype, argument, out)) return;
  if (!is_number(argument)) {
    core::refuse_scalar(name, dtype, "got a pointer; pass a number");
  }
  core::check_scalar(name, dtype, argument.number());
}

}  // namespace tilejit::launch
