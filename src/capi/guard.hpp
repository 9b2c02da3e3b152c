#pragma once

#include <string>

#include "tilejit/error.hpp"
#include "tilejit/tilejit.h"

namespace tilejit::capi {

/// Keeps the exception that is being handled as this thread's last error.
[[nodiscard]] tj_status record_current_exception() noexcept;

/// `call()` at the edge of the interface: no exception leaves it.
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

/// What `pointer` points to. Throws Error{invalid_argument} for NULL.
template <typename T>
T& required(T* pointer, const char* name) {
  if (pointer == nullptr) refuse_null(name);
  return *pointer;
}
/// A text that is not NULL.
[[nodiscard]] inline const char* required_text(const char* text, const char* name) {
  return &required(text, name);
}

/// A struct whose first member is its size: at least that of version 1, which is all there is yet.
template <typename Struct>
Struct& required_struct(Struct* pointer, const char* name) {
  Struct& value = required(pointer, name);
  if (value.struct_size >= sizeof(Struct)) return value;
  throw Error(ErrorCode::invalid_argument,
              std::string(name) + "->struct_size is " + std::to_string(value.struct_size) +
                  "; set it to the struct's size, " + std::to_string(sizeof(Struct)) + " bytes");
}

/// A copy for the caller, who frees it by tj_free. Throws std::bad_alloc.
[[nodiscard]] char* copy_text(const std::string& text);

}  // namespace tilejit::capi
