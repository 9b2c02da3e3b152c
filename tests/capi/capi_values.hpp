#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "capi/guard.hpp"
#include "capi/handles.hpp"
#include "fake/fake_runtime.hpp"

namespace tilejit {

/// A text that the interface returned.
inline std::string take(char* text) {
  std::string copy = text;
  tj_free(text);
  return copy;
}

/// Expects `want`, and `text` in the thread's last error.
inline void expect_failure(tj_status status, tj_status want, const char* text) {
  EXPECT_STREQ(tj_status_name(status), tj_status_name(want)) << tj_last_error();
  EXPECT_THAT(tj_last_error(), testing::HasSubstr(text));
}

/// A tensor of f32; `shape` and `strides` are the caller's.
inline tj_argument tensor(void* data, const std::vector<std::int64_t>& shape,
                          const std::vector<std::int64_t>& strides = {}) {
  tj_argument argument = {};
  argument.struct_size = sizeof argument;
  argument.kind = TJ_TENSOR;
  argument.dtype = TJ_F32;
  argument.ndim = static_cast<std::int32_t>(shape.size());
  argument.data = data;
  argument.shape = shape.data();
  argument.strides = strides.empty() ? nullptr : strides.data();
  return argument;
}

inline tj_argument number(double value) {
  tj_argument argument = {};
  argument.struct_size = sizeof argument;
  argument.kind = TJ_FLOATING;
  argument.floating = value;
  return argument;
}

/// A runtime on a fake driver, and a kernel of a hand-made plan.
struct Handles {
  FakeDriver fake;
  tj_runtime runtime{
      std::make_shared<Runtime>(launch::Internals::make_runtime(kInMemory, fake.table))};
  tj_kernel kernel{load(*runtime.runtime, hand_plan())};
};

}  // namespace tilejit
