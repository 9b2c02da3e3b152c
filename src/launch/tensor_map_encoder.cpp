#include "launch/tensor_map_encoder.hpp"

#include <cstring>
#include <utility>

#include "driver/loader.hpp"
#include "tilejit/error.hpp"

namespace tilejit::launch {
namespace {

using operation::TensorMap;

CUtensorMapDataType data_type_of(DType dtype) noexcept {
  switch (dtype) {
    case b8:
    case i8:
    case u8:
    case f8e4m3:
    case f8e5m2: return CU_TENSOR_MAP_DATA_TYPE_UINT8;
    case i16:
    case u16: return CU_TENSOR_MAP_DATA_TYPE_UINT16;
    case i32: return CU_TENSOR_MAP_DATA_TYPE_INT32;
    case u32: return CU_TENSOR_MAP_DATA_TYPE_UINT32;
    case i64: return CU_TENSOR_MAP_DATA_TYPE_INT64;
    case u64: return CU_TENSOR_MAP_DATA_TYPE_UINT64;
    case f16: return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    case bf16: return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    case f32: return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    case f64: return CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
    case tf32: return CU_TENSOR_MAP_DATA_TYPE_TFLOAT32;
  }
  return CU_TENSOR_MAP_DATA_TYPE_UINT8;
}

CUtensorMapSwizzle swizzle_of(TensorMap::Swizzle swizzle) noexcept {
  switch (swizzle) {
    case TensorMap::Swizzle::bytes_32: return CU_TENSOR_MAP_SWIZZLE_32B;
    case TensorMap::Swizzle::bytes_64: return CU_TENSOR_MAP_SWIZZLE_64B;
    case TensorMap::Swizzle::bytes_128: return CU_TENSOR_MAP_SWIZZLE_128B;
    case TensorMap::Swizzle::none: break;
  }
  return CU_TENSOR_MAP_SWIZZLE_NONE;
}

CUtensorMapL2promotion promotion_of(TensorMap::Promotion promotion) noexcept {
  switch (promotion) {
    case TensorMap::Promotion::bytes_64: return CU_TENSOR_MAP_L2_PROMOTION_L2_64B;
    case TensorMap::Promotion::bytes_128: return CU_TENSOR_MAP_L2_PROMOTION_L2_128B;
    case TensorMap::Promotion::bytes_256: return CU_TENSOR_MAP_L2_PROMOTION_L2_256B;
    case TensorMap::Promotion::none: break;
  }
  return CU_TENSOR_MAP_L2_PROMOTION_NONE;
}

CUtensorMapFloatOOBfill fill_of(TensorMap::Fill fill) noexcept {
  return fill == TensorMap::Fill::nan ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
                                      : CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
}

/// The arrays that the driver reads, in its units.
struct Encoding {
  using Sizes = std::array<cuuint64_t, TensorMap::kMaxRank>;
  using Counts = std::array<cuuint32_t, TensorMap::kMaxRank>;
  Sizes extents = {};  // elements
  Sizes strides = {};  // bytes, of the modes after the first
  Counts boxes = {}, steps = {};

  Encoding(const TensorMap& map, const TensorMapValues& values) {
    const auto bytes = static_cast<std::uint64_t>(size_bytes(map.dtype));
    for (std::size_t i = 0; i < map.modes.size(); ++i) {
      extents[i] = static_cast<std::uint64_t>(values.extents[i]);
      boxes[i] = static_cast<std::uint32_t>(map.modes[i].box);
      steps[i] = static_cast<std::uint32_t>(map.modes[i].step);
      if (i == 0) continue;
      // No stride matters if the extent is 1, but the driver checks them all.
      const std::uint64_t legal = i == 1 ? (extents[0] * bytes + 15) / 16 * 16 : strides[i - 2];
      const auto given = static_cast<std::uint64_t>(values.strides[i]) * bytes;
      strides[i - 1] = extents[i] == 1 ? legal : given;
    }
  }
};

/// "136 x 200"
std::string text_of(const auto& numbers, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text += (i == 0 ? "" : " x ") + std::to_string(numbers[i]);
  }
  return text;
}

}  // namespace

void TensorMapEncoder::add(const TensorMap& map, const std::string& name, Owner owner) {
  maps_.push_back({map, name, std::move(owner)});
}

void TensorMapEncoder::refuse(const Map& map, const std::string& why) {
  throw Error(
      ErrorCode::invalid_argument,
      map.owner.text + ", of which the kernel takes a tensor map ('" + map.name + "'), " + why,
      map.owner.where);
}

void TensorMapEncoder::check_sizes(std::size_t number, const TensorMapValues& values) const {
  const Map& map = maps_[number];
  const int bytes = size_bytes(map.map.dtype);
  for (std::size_t i = 0; i < map.map.modes.size(); ++i) {
    const std::int64_t extent = values.extents[i], stride = values.strides[i];
    if (extent < 1 || extent > TensorMap::kMaxExtent) {
      refuse(map, "has an extent of " + std::to_string(extent) + " in the map's mode " +
                      std::to_string(i) + "; pass 1 to 2^32 elements");
    }
    if (i == 0 || extent == 1 || operation::is_stride(stride, bytes)) continue;
    refuse(map, "has a stride of " + std::to_string(stride) + " elements of " +
                    std::to_string(bytes) + " bytes in the map's mode " + std::to_string(i) +
                    "; pass a positive multiple of 16 bytes below 2^40");
  }
}

void TensorMapEncoder::encode(std::size_t number, const TensorMapValues& values,
                              std::byte* out) const {
  Map& map = maps_[number];
  constexpr std::uint64_t kSpread = 0x9E3779B97F4A7C15u;
  Recent& recent = map.recent[(values.address * kSpread >> 32) % kRecent];
  {
    const std::lock_guard lock(mutex_);
    if (recent.used && recent.values == values) [[likely]] {
      std::memcpy(out, recent.encoded.data(), recent.encoded.size());
      return;
    }
  }
  check_sizes(number, values);
  const CUtensorMap made = ask_driver(map, values);
  static_assert(sizeof made == TensorMap::kBytes);
  std::memcpy(out, &made, sizeof made);
  const std::lock_guard lock(mutex_);
  recent.used = true;
  recent.values = values;
  std::memcpy(recent.encoded.data(), &made, sizeof made);
}

CUtensorMap TensorMapEncoder::ask_driver(const Map& map, const TensorMapValues& values) const {
  if (values.address % 16 != 0) {
    refuse(map, "is not aligned to 16 bytes; pass aligned memory, or describe it with align 8");
  }
  const TensorMap& what = map.map;
  const auto rank = static_cast<cuuint32_t>(what.modes.size());
  const Encoding encoding(what, values);
  const driver::Table& driver = context_.driver();
  CUtensorMap made = {};  // as aligned as the driver asks
  const auto call = [&] {
    return driver.cuTensorMapEncodeTiled_(
        &made, data_type_of(what.dtype), rank, reinterpret_cast<void*>(values.address),
        encoding.extents.data(), encoding.strides.data(), encoding.boxes.data(),
        encoding.steps.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle_of(what.swizzle),
        promotion_of(what.promotion), fill_of(what.fill));
  };
  CUresult result = call();
  if (result == CUDA_ERROR_INVALID_CONTEXT) {  // this thread has none
    const driver::ContextScope scope(context_);
    result = call();
  }
  if (result == CUDA_SUCCESS) return made;
  throw Error(
      ErrorCode::driver_call,
      "the driver refused the tensor map '" + map.name + "' of " + map.owner.text + " with " +
          driver::describe(driver, result) + ": " + std::string(to_string(what.dtype)) +
          ", extents " + text_of(encoding.extents, rank) + ", strides in bytes " +
          text_of(encoding.strides, rank - 1) + ", box " + text_of(encoding.boxes, rank) +
          ", swizzle of " + std::to_string(operation::swizzle_bytes(what.swizzle)) +
          " bytes; check that the memory belongs to the device, or describe the tensor with "
          "align 8",
      "cuTensorMapEncodeTiled");
}

void require_tensor_maps(const driver::Context& context) {
  const driver::Table& driver = context.driver();
  if (driver.cuTensorMapEncodeTiled_ == nullptr) {
    throw Error(ErrorCode::no_driver,
                "the kernel takes tensor maps, and this driver, which supports CUDA " +
                    driver::version_text(driver) +
                    ", cannot encode them (it has no cuTensorMapEncodeTiled); install a driver for "
                    "CUDA 12.0 or later",
                "cuTensorMapEncodeTiled");
  }
  if (context.limits().major < 9) {
    throw Error(ErrorCode::unsupported,
                "the kernel takes tensor maps, and this device has compute capability " +
                    std::to_string(context.limits().major) +
                    ".x, without a tensor memory accelerator (9.0 or above); plan for its own "
                    "target");
  }
}

}  // namespace tilejit::launch
