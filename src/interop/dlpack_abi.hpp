#pragma once

#include <cstdint>

// DLPack's binary interface, version 1.1, as its specification defines it (github.com/dmlc/dlpack).
// The names are those of dlpack.h, which is never included together with this header.

struct DLPackVersion {
  std::uint32_t major;
  std::uint32_t minor;
};

struct DLDevice {
  std::int32_t device_type;
  std::int32_t device_id;
};

struct DLDataType {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
};

struct DLTensor {
  void* data;
  DLDevice device;
  std::int32_t ndim;
  DLDataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;  // elements; NULL: compact, row-major
  std::uint64_t byte_offset;
};

struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensor* self);  // may be NULL
};

struct DLManagedTensorVersioned {
  DLPackVersion version;
  void* manager_ctx;
  void (*deleter)(DLManagedTensorVersioned* self);  // may be NULL
  std::uint64_t flags;
  DLTensor dl_tensor;
};

namespace tilejit::interop {

inline constexpr std::uint32_t kDlpackMajor = 1;
inline constexpr std::uint32_t kDlpackMinor = 1;
inline constexpr std::uint64_t kDlpackReadOnly = 1;  // bit of DLManagedTensorVersioned::flags

/// Type codes of DLDataType.
enum DlpackCode : std::uint8_t {
  kDlpackInt = 0,
  kDlpackUInt = 1,
  kDlpackFloat = 2,
  kDlpackOpaque = 3,
  kDlpackBfloat = 4,
  kDlpackComplex = 5,
  kDlpackBool = 6,
  kDlpackF8e4m3fn = 10,
  kDlpackF8e5m2 = 12,
};

}  // namespace tilejit::interop
