// The elements of a tensor in host memory: one, all, and printed.

#include <cstring>

#include "core/text.hpp"
#include "interop/tensor_text.hpp"
#include "tilejit/error.hpp"
#include "tilejit/reference.hpp"
#include "tilejit/tensor_view.hpp"

namespace tilejit {
namespace {

[[noreturn]] void refuse(const std::string& why) {
  throw Error(ErrorCode::invalid_argument, "the tensor's elements cannot be reached: " + why);
}

/// The first element. Throws unless it lies in memory of the host.
std::byte* host_memory(const TensorView& tensor) {
  if (tensor.has_coordinates()) refuse("they are coordinates; use coordinate_at");
  const Engine engine = tensor.engine();
  if (engine.space != MemorySpace::generic) {
    refuse("they lie in " + std::string(interop::name_of(engine.space)) +
           "; copy them to the host, or print them with a Runtime");
  }
  (void)index_of(tensor, 0);  // throws if symbols have no value, or there is no element
  if (engine.data == nullptr) refuse("the data is a null pointer; pass its memory");
  return static_cast<std::byte*>(engine.data);
}

std::byte* element_at(const TensorView& tensor, const Coordinate& coordinate) {
  std::byte* const first = host_memory(tensor);
  return first + tensor.layout()(coordinate) * size_bytes(tensor.engine().dtype);
}

template <typename Integer>
Number integer_at(const std::byte* element) {
  Integer value = 0;
  std::memcpy(&value, element, sizeof value);
  return value;
}

Number number_at(DType dtype, const std::byte* element) {
  switch (dtype) {
    case b8: return *element == std::byte{0} ? 0 : 1;
    case i8: return integer_at<std::int8_t>(element);
    case i16: return integer_at<std::int16_t>(element);
    case i32: return integer_at<std::int32_t>(element);
    case i64: return integer_at<std::int64_t>(element);
    case u8: return integer_at<std::uint8_t>(element);
    case u16: return integer_at<std::uint16_t>(element);
    case u32: return integer_at<std::uint32_t>(element);
    case u64: return integer_at<std::uint64_t>(element);
    default: return decode(dtype, element);
  }
}

/// The bytes of one element.
struct Stored {
  std::byte bytes[8] = {};
  std::size_t count = 0;
};

Stored stored(const Engine& engine, const Number& value) {
  if (engine.read_only) refuse("the tensor is read-only; use a copy");
  if (!fits(engine.dtype, value)) {
    throw Error(ErrorCode::invalid_argument, "the value " + to_string(value) + " is outside of " +
                                                 std::string(to_string(engine.dtype)));
  }
  Stored result;
  result.count = static_cast<std::size_t>(size_bytes(engine.dtype));
  if (is_floating(engine.dtype)) {
    encode(engine.dtype, value.to<double>(), result.bytes);
  } else {
    // Two's complement, the lowest byte first; `fits` has let integers through alone.
    const std::int64_t bits = value.bits();
    std::memcpy(result.bytes, &bits, result.count);
  }
  return result;
}

std::string coordinates_text(const TensorView& tensor, const PrintOptions& options) {
  std::string type = to_string(tensor);
  const std::string heading = "tensor(" + type.substr(7, type.size() - 8);
  // Elements are numbered by the layout of the text, so that the number is a coordinate.
  return interop::text_after(
      heading, column_major(tensor.layout().shape()), options,
      [&](std::int64_t number) { return " " + to_string(coordinate_at(tensor, number)); });
}

}  // namespace

Number element(const TensorView& tensor, const Coordinate& coordinate) {
  const std::byte* const at = element_at(tensor, coordinate);
  return number_at(tensor.engine().dtype, at);
}

void set_element(const TensorView& tensor, const Coordinate& coordinate, const Number& value) {
  std::byte* const at = element_at(tensor, coordinate);
  const Stored element = stored(tensor.engine(), value);
  std::memcpy(at, element.bytes, element.count);
}

void fill(const TensorView& tensor, const Number& value) {
  const std::int64_t count = size(tensor.layout()).is(0) ? 0 : size(tensor.layout()).evaluate({});
  if (count == 0) return;
  std::byte* const first = host_memory(tensor);
  const Stored element = stored(tensor.engine(), value);
  const auto bytes = static_cast<std::int64_t>(element.count);
  for (std::int64_t i = 0; i < count; ++i)
    std::memcpy(first + tensor.layout()(i) * bytes, element.bytes, element.count);
}

std::string print_tensor(const TensorView& tensor, const PrintOptions& options) {
  if (tensor.has_coordinates()) return coordinates_text(tensor, options);
  const Engine engine = tensor.engine();
  PrintOptions described = options;
  if (!described.space) described.space = engine.space;
  if (described.align == 0) described.align = engine.align;
  const bool empty = size(tensor.layout()).is(0);
  return print_tensor(engine.dtype, tensor.layout(), empty ? nullptr : host_memory(tensor),
                      described);
}

}  // namespace tilejit
