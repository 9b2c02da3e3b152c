#pragma once

#include <string>

#include "tilejit/error.hpp"
#include "tilejit/tilejit.h"

namespace tilejit::capi {

/// Stores the exception that is being handled as this thread's last error.
[[nodiscard]] tj_status record_current_exception() noexcept;

/// Runs `call()` at the edge of the interface. No exception leaves it.
template <typename Call>
[[nodiscard]] tj_status guarded(Call&& call) noexcept {
  try {
    call();
    return TJ_OK;
  } catch (...) {
    return record_current_exception();
  }
}

[[noreturn]] void refuse_null(const char* name);

/// The object that `pointer` points to. Throws Error{invalid_argument} for NULL.
template <typename T>
T& required(T* pointer, const char* name) {
  if (pointer == nullptr) refuse_null(name);
  return *pointer;
}
/// `text`, which must not be NULL.
[[nodiscard]] inline const char* required_text(const char* text, const char* name) {
  return &required(text, name);
}

/// A struct whose first member is its size. The size must be at least that of version 1, the only
/// version so far.
template <typename Struct>
Struct& required_struct(Struct* pointer, const char* name) {
  Struct& value = required(pointer, name);
  if (value.struct_size >= sizeof(Struct)) return value;
  throw Error(ErrorCode::invalid_argument,
              std::string(name) + "->struct_size is " + std::to_string(value.struct_size) +
                  "; set it to the struct's size, " + std::to_string(sizeof(Struct)) + " bytes");
}

/// A copy for the caller, who frees it with tj_free. Throws std::bad_alloc.
[[nodiscard]] char* copy_text(const std::string& text);

}  // namespace tilejit::capi
