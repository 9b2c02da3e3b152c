#include "operation/tensor_map.hpp"

#include "core/json_line.hpp"

namespace tilejit::operation {
namespace {

using Map = TensorMap;

const char* name_of(Map::Promotion promotion) noexcept {
  switch (promotion) {
    case Map::Promotion::none: return "none";
    case Map::Promotion::bytes_64: return "64B";
    case Map::Promotion::bytes_128: return "128B";
    case Map::Promotion::bytes_256: return "256B";
  }
  return "unknown";
}

std::string fault_of_mode(const Map::Mode& mode, std::size_t i) {
  const std::string in = " in mode " + std::to_string(i);
  if (mode.box < 1 || mode.box > 256)
    return "has a box of " + std::to_string(mode.box) + in + ", not 1 to 256";
  if (mode.step < 1 || mode.step > 8)
    return "has a step of " + std::to_string(mode.step) + in + ", not 1 to 8";
  if (mode.extent.is_known() && mode.extent.value() > Map::kMaxExtent) {
    return "has an extent of " + std::to_string(mode.extent.value()) + in + ", not 1 to 2^32";
  }
  return {};
}

std::string fault_of_stride(const Map::Mode& mode, std::size_t i, int element_bytes) {
  if (!mode.stride.is_known() || mode.extent.is(1)) return {};
  if (is_stride(mode.stride.value(), element_bytes)) return {};
  return "has a stride of " + std::to_string(mode.stride.value()) + " elements of " +
         std::to_string(element_bytes) + " bytes in mode " + std::to_string(i) +
         ", not a positive multiple of 16 bytes below 2^40";
}

std::string fault_of_rows(const Map& map, int element_bytes) {
  const Map::Mode& first = map.modes.front();
  if (!first.stride.is(1))
    return "has a stride of " + to_string(first.stride) + " in mode 0, not 1";
  if (first.step != 1) return "has a step of " + std::to_string(first.step) + " in mode 0, not 1";
  const int row = first.box * element_bytes, width = swizzle_bytes(map.swizzle);
  if (row % 16 != 0)
    return "has boxes with rows of " + std::to_string(row) + " bytes, not a multiple of 16";
  if (width != 0 && row > width) {
    return "has boxes with rows of " + std::to_string(row) + " bytes, more than its swizzle of " +
           std::to_string(width);
  }
  return {};
}

}  // namespace

bool is_stride(std::int64_t elements, int element_bytes) noexcept {
  constexpr std::int64_t kEnd = std::int64_t{1} << 40;  // bytes
  return elements > 0 && elements < kEnd / element_bytes && elements * element_bytes % 16 == 0;
}

int swizzle_bytes(Map::Swizzle swizzle) noexcept {
  return swizzle == Map::Swizzle::none ? 0 : 16 << static_cast<int>(swizzle);
}

std::string fault_of(const Map& map) {
  if (map.modes.empty() || map.modes.size() > Map::kMaxRank) {
    return "has " + std::to_string(map.modes.size()) + " modes, not 1 to 5";
  }
  const int bytes = size_bytes(map.dtype);
  if (map.fill == Map::Fill::nan && (!is_floating(map.dtype) || bytes == 1)) {
    return "is filled with NaN, which " + std::string(to_string(map.dtype)) + " cannot be";
  }
  for (std::size_t i = 0; i < map.modes.size(); ++i) {
    if (std::string fault = fault_of_mode(map.modes[i], i); !fault.empty()) return fault;
    if (i == 0) continue;
    if (std::string fault = fault_of_stride(map.modes[i], i, bytes); !fault.empty()) return fault;
  }
  return fault_of_rows(map, bytes);
}

std::string to_json(const Map& map) {
  core::JsonLine line;
  line.open('{').member("base", map.base == Map::Base::tensor ? "tensor" : "workspace");
  line.member("dtype", to_string(map.dtype)).key("modes").open('[');
  for (const Map::Mode& mode : map.modes) {
    line.open('{')
        .member("extent", to_string(mode.extent))
        .member("stride", to_string(mode.stride));
    line.member("box", mode.box).member("step", mode.step).close('}');
  }
  line.close(']').member("swizzle", swizzle_bytes(map.swizzle));
  line.member("promotion", name_of(map.promotion));
  return line.member("fill", map.fill == Map::Fill::zeros ? "zeros" : "nan").close('}').take();
}

}  // namespace tilejit::operation
