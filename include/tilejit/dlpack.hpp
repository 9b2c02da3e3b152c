#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tilejit/fused.hpp"
#include "tilejit/kernel.hpp"

// DLPack's own structs (dlpack.h, versions 1.x; the first also in 0.x).
struct DLManagedTensor;
struct DLManagedTensorVersioned;

namespace tilejit {

class Buffer;
class Runtime;
class TensorView;

/// Kinds of memory that DLPack names and CUDA knows; the values are DLPack's.
enum class DlpackDevice : std::uint8_t {
  cpu = 1,
  cuda = 2,
  cuda_host = 3,      ///< page-locked
  cuda_managed = 13,  ///< cudaMallocManaged
};

/// A tensor of another library, handed over by DLPack. Copies share it. The last copy gives it
/// back, exactly once, in the thread that destroys it. Thread-safe while it is not changed.
class DlpackTensor {
 public:
  /// Takes `managed` over, unless this throws: then it is still the caller's. Strides may be NULL
  /// (compact, row-major); base address and byte offset become one address. Throws
  /// Error{invalid_argument} for a null pointer, a negative extent, elements without memory, and an
  /// offset that splits elements; Error{unsupported} for a negative stride, a DLPack version other
  /// than 1.x, a device without CUDA, a dtype that this library does not have, or more than one
  /// lane.
  explicit DlpackTensor(DLManagedTensorVersioned* managed);
  explicit DlpackTensor(DLManagedTensor* managed);

  [[nodiscard]] DType dtype() const noexcept { return dtype_; }
  /// The address of the first element, in device memory if `device()` says so.
  [[nodiscard]] void* data() const noexcept { return data_; }
  /// Elements.
  [[nodiscard]] std::span<const std::int64_t> shape() const noexcept { return shape_; }
  [[nodiscard]] std::span<const std::int64_t> strides() const noexcept { return strides_; }
  [[nodiscard]] DlpackDevice device() const noexcept { return device_; }
  [[nodiscard]] int device_id() const noexcept { return device_id_; }  ///< counted from 0
  /// Whether the other library forbids writing to it. False for old tensors, which cannot tell.
  [[nodiscard]] bool read_only() const noexcept { return read_only_; }

  /// Shape and strides; an extent of 1 gets stride 0. A tensor without modes is 1:0.
  [[nodiscard]] Layout layout() const;
  /// What a Fused needs to compile for exactly this shape; `align` is the alignment of the address,
  /// at most 16, at least an element.
  [[nodiscard]] Tensor describe(std::string name, Access access = Access::automatic) const;
  /// The tensor as a value, in `gmem` if it lies in device memory, else `generic`. `align` is a
  /// promise of the caller, in bytes; 0: an element. Valid while this tensor is. Throws as
  /// TensorView's constructor.
  [[nodiscard]] TensorView view(int align = 0) const;
  /// A launch argument: a view, valid while this tensor is. Checks that the runtime's device can
  /// reach the memory, and that a read-only tensor is only read. Throws Error{invalid_argument}.
  [[nodiscard]] Argument argument(const Runtime& runtime, Access access = Access::in) const;

 private:
  template <typename Managed>
  void take(Managed* managed);

  std::shared_ptr<void> owner_;  // the managed tensor; calls its deleter
  DType dtype_ = f32;
  void* data_ = nullptr;
  std::vector<std::int64_t> shape_ = {}, strides_ = {};
  DlpackDevice device_ = DlpackDevice::cpu;
  int device_id_ = 0;
  bool read_only_ = false;
};

/// A tensor to hand to another library.
struct DlpackView {
  DType dtype = f32;
  void* data = nullptr;  ///< of the first element
  std::vector<std::int64_t> shape = {};
  std::vector<std::int64_t> strides = {};  ///< in elements; empty: compact, row-major
  DlpackDevice device = DlpackDevice::cpu;
  int device_id = 0;
  bool read_only = false;
};

/// DLPack's struct for `view`, to be given to exactly one consumer, who calls its deleter once and
/// from any thread; `owner` (may be null) is kept alive until then. tf32 becomes f32. Nothing is
/// synchronised: whoever reads the memory waits for the stream that writes it. Throws
/// Error{invalid_argument} unless there is one stride per extent, for negative numbers, and for a
/// null pointer to elements.
[[nodiscard]] DLManagedTensorVersioned* to_dlpack_versioned(const DlpackView& view,
                                                            std::shared_ptr<const void> owner);
/// The old struct, for consumers from before DLPack 1.0. Also throws Error{unsupported} if the view
/// is read-only, which that struct cannot say.
[[nodiscard]] DLManagedTensor* to_dlpack(const DlpackView& view, std::shared_ptr<const void> owner);

/// A view of `buffer`, which is memory of the runtime's device. Throws Error{invalid_argument} if
/// the tensor does not fit the buffer.
[[nodiscard]] DlpackView dlpack_view(const Runtime& runtime, const Buffer& buffer, DType dtype,
                                     std::vector<std::int64_t> shape,
                                     std::vector<std::int64_t> strides = {});

}  // namespace tilejit
