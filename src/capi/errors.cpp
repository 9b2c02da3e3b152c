#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

#include "capi/guard.hpp"

namespace tilejit::capi {
namespace {

struct LastError {
  std::string message, where, log;
  bool too_large = false;  // true if there was no memory to store the error
};
thread_local LastError last_error;

tj_status status_of(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::invalid_spec: return TJ_INVALID_SPEC;
    case ErrorCode::invalid_layout: return TJ_INVALID_LAYOUT;
    case ErrorCode::invalid_formula: return TJ_INVALID_FORMULA;
    case ErrorCode::invalid_argument: return TJ_INVALID_ARGUMENT;
    case ErrorCode::unsupported: return TJ_UNSUPPORTED;
    case ErrorCode::compile_failed: return TJ_COMPILE_FAILED;
    case ErrorCode::no_compiler: return TJ_NO_COMPILER;
    case ErrorCode::no_driver: return TJ_NO_DRIVER;
    case ErrorCode::no_device: return TJ_NO_DEVICE;
    case ErrorCode::driver_call: return TJ_DRIVER_CALL;
    case ErrorCode::io: return TJ_IO;
    case ErrorCode::cancelled: return TJ_CANCELLED;
    case ErrorCode::deadline_exceeded: return TJ_DEADLINE_EXCEEDED;
    case ErrorCode::queue_full: return TJ_QUEUE_FULL;
    case ErrorCode::missing: return TJ_MISSING;
  }
  return TJ_INTERNAL;
}

tj_status record(tj_status status, const char* message, const std::string& where = {},
                 const std::string& log = {}) noexcept {
  try {
    last_error = {message, where, log, false};
  } catch (const std::bad_alloc&) {
    last_error.too_large = true;
  }
  return status;
}

}  // namespace

tj_status record_current_exception() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    return record(status_of(error.code()), error.what(), error.where(), error.log());
  } catch (const std::bad_alloc&) {
    return record(TJ_OUT_OF_MEMORY, "the host has no memory left for this");
  } catch (const std::exception& error) {
    return record(TJ_INTERNAL, error.what());
  } catch (...) {
    return record(TJ_INTERNAL, "an exception of an unknown type");
  }
}

void refuse_null(const char* name) {
  throw Error(ErrorCode::invalid_argument, std::string(name) + " is NULL");
}

char* copy_text(const std::string& text) {
  auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

}  // namespace tilejit::capi

using tilejit::capi::last_error;

extern "C" {

const char* tj_status_name(tj_status status) {
  constexpr const char* kNames[] = {"ok",
                                    "invalid_spec",
                                    "invalid_layout",
                                    "invalid_formula",
                                    "invalid_argument",
                                    "unsupported",
                                    "compile_failed",
                                    "no_compiler",
                                    "no_driver",
                                    "no_device",
                                    "driver_call",
                                    "io",
                                    "out_of_memory",
                                    "internal",
                                    "cancelled",
                                    "deadline_exceeded",
                                    "queue_full",
                                    "missing"};
  const bool known = status >= 0 && status < static_cast<tj_status>(std::size(kNames));
  return known ? kNames[status] : "unknown";
}

const char* tj_last_error(void) {
  return last_error.too_large ? "the host has no memory left for an error's text"
                              : last_error.message.c_str();
}

const char* tj_last_error_where(void) {
  return last_error.too_large ? "" : last_error.where.c_str();
}

const char* tj_last_error_log(void) {
  return last_error.too_large ? "" : last_error.log.c_str();
}

void tj_free(void* text) {
  std::free(text);
}

}  // extern "C"
