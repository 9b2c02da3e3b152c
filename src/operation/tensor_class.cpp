#include "operation/tensor_class.hpp"

#include "core/integer.hpp"

namespace tilejit::operation {

std::string tensor_class(std::span<const Tensor> tensors) {
  std::string text;
  for (const Tensor& tensor : tensors) {
    ((text += ' ') += to_string(tensor.dtype)) += ':';
    for (const Mode& leaf : tensor.layout.leaves()) {
      text += '/';
      text += leaf.extent.is_known() ? std::to_string(core::power_of_two_from(leaf.extent.value()))
                                     : to_string(leaf.extent);
    }
  }
  return text;
}

}  // namespace tilejit::operation
