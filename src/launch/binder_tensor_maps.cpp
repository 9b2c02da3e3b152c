// Tensor maps: fields that the driver encodes once an address is known.

#include <cstring>

#include "launch/binder.hpp"

namespace tilejit::launch {

using Base = operation::TensorMap::Base;

void Binder::write_tensor_maps(std::span<const Argument> args, const Sizes& sizes,
                               std::byte* out) const {
  for (std::size_t i = 0; i < maps_.size(); ++i) {
    const MapField& field = maps_[i];
    TensorMapValues values;
    for (std::size_t m = 0; m < field.modes.size(); ++m) {
      values.extents[m] = sizes.dims[field.modes[m].extent];
      values.strides[m] = sizes.dims[field.modes[m].stride];
    }
    if (field.base == Base::tensor) {
      values.address = args[field.index].address;
      encoder_->encode(i, values, out + field.offset);
    } else {
      values.address = static_cast<std::uint64_t>(sizes.workspaces[field.index]);
      encoder_->check_sizes(i, values);  // a fault is one of this call, not of the launch
      std::memcpy(out + field.offset, &values, sizeof values);
    }
  }
}

void Binder::place_tensor_maps(std::uint64_t address, std::byte* params) const {
  for (std::size_t i = 0; i < maps_.size(); ++i) {
    if (maps_[i].base != Base::workspace) continue;
    TensorMapValues values;
    std::memcpy(&values, params + maps_[i].offset, sizeof values);
    values.address += address;
    encoder_->encode(i, values, params + maps_[i].offset);
  }
}

}  // namespace tilejit::launch
