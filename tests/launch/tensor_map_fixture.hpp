#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "fake/fake_runtime.hpp"

namespace tilejit {

inline constexpr const char* kEncode = "cuTensorMapEncodeTiled";

class TensorMaps : public testing::Test {
 protected:
  TensorMaps() { fake.param_bytes = 192; }

  /// The number and the address in the map at `offset` of a launch.
  struct Encoded {
    std::uint64_t number, address;
    bool operator==(const Encoded&) const = default;
  };
  static Encoded map_at(const std::vector<std::byte>& params, int offset) {
    return {field_at<std::uint64_t>(params.data(), offset),
            field_at<std::uint64_t>(params.data(), offset + 8)};
  }
  [[nodiscard]] Encoded last_map(int offset = 64) const {
    return map_at(fake.launches.back().params, offset);
  }
  [[nodiscard]] static bool is_aligned(const void* params) {
    return reinterpret_cast<std::uintptr_t>(params) % operation::TensorMap::kAlignment == 0;
  }

  FakeDriver fake;
  Runtime runtime = launch::Internals::make_runtime(kInMemory, fake.table);
};

/// x of known sizes, followed by y; a map of x at byte 64.
inline HandPlan mapped_plan(DType dtype = f16) {
  HandPlan plan;
  plan.in("x", "(1000,512):(512,1)", dtype).out("y", "(1000,512):(512,1)", dtype);
  return plan.map(
      0, {.dtype = dtype,
          .modes = {{.extent = 512, .box = 32}, {.extent = 1000, .stride = 512, .box = 64}}});
}

inline std::vector<Argument> x_at(std::uintptr_t x, std::uintptr_t y = 0x40000000) {
  return {on_device(x), on_device(y)};
}

}  // namespace tilejit
