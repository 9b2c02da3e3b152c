#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "driver/handles.hpp"
#include "operation/tensor_map.hpp"

namespace tilejit::launch {

/// What launches of a tensor map differ in.
struct TensorMapValues {
  using PerMode = std::array<std::int64_t, operation::TensorMap::kMaxRank>;
  std::uint64_t address = 0;  ///< for a workspace without one, its offset
  PerMode extents = {};       ///< elements; modes that the map lacks are 0
  PerMode strides = {};       ///< likewise
  bool operator==(const TensorMapValues&) const = default;
};
static_assert(sizeof(TensorMapValues) <= operation::TensorMap::kBytes);

/// The tensor maps of one kernel. Asks the driver once for values that come again. Thread-safe,
/// except `add`; launches without tensor maps do not touch its lock.
class TensorMapEncoder {
 public:
  /// `context` outlives the encoder.
  explicit TensorMapEncoder(const driver::Context& context) : context_(context) {}

  /// Whose memory a map shows, for messages.
  struct Owner {
    std::string text;   ///< "tensor 'a' (argument 0)"
    std::string where;  ///< "/tensors/a"
  };
  /// Numbers the maps from 0. `map` has passed operation::check_tensor_maps; `name` is its field's.
  void add(const operation::TensorMap& map, const std::string& name, Owner owner);

  /// Throws Error{invalid_argument} for extents and strides that a tensor map cannot have.
  void check_sizes(std::size_t number, const TensorMapValues& values) const;
  /// Writes 128 bytes to `out`. Throws as check_sizes, also for an address that is not a multiple
  /// of 16; Error{driver_call} if the driver refuses the map all the same.
  void encode(std::size_t number, const TensorMapValues& values, std::byte* out) const;

 private:
  /// As many per map as buffers that take turns, or weights of layers that share a kernel.
  static constexpr std::size_t kRecent = 16;
  struct Recent {
    bool used = false;
    TensorMapValues values = {};
    std::array<std::byte, operation::TensorMap::kBytes> encoded = {};
  };
  struct Map {
    operation::TensorMap map;
    std::string name;
    Owner owner;
    std::array<Recent, kRecent> recent = {};  // by address; guarded by mutex_
  };

  [[nodiscard]] CUtensorMap ask_driver(const Map& map, const TensorMapValues& values) const;
  [[noreturn]] static void refuse(const Map& map, const std::string& why);

  const driver::Context& context_;
  mutable std::mutex mutex_;
  mutable std::vector<Map> maps_;
};

/// Throws if kernels with tensor maps cannot run: Error{no_driver} if the driver cannot encode
/// them, Error{unsupported} if the device has no tensor memory accelerator.
void require_tensor_maps(const driver::Context& context);

}  // namespace tilejit::launch
