#pragma once

#include <cstddef>
#include <numeric>
#include <vector>

#include "tilejit/runtime.hpp"

namespace tilejit::test {

template <typename T>
Buffer upload(const Runtime& runtime, const std::vector<T>& values) {
  Buffer buffer(runtime, values.size() * sizeof(T));
  buffer.copy_from_host(values.data(), values.size() * sizeof(T));
  return buffer;
}

template <typename T>
std::vector<T> download(const Buffer& buffer) {
  std::vector<T> values(buffer.size_bytes() / sizeof(T));
  buffer.copy_to_host(values.data(), buffer.size_bytes());
  return values;
}

/// 0, 1, 2, ...
inline std::vector<float> counting(std::size_t n) {
  std::vector<float> values(n);
  std::iota(values.begin(), values.end(), 0.0f);
  return values;
}

}  // namespace tilejit::test
