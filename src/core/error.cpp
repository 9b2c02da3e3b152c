#include "tilejit/error.hpp"

#include <utility>

namespace tilejit {

std::string_view to_string(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::invalid_spec: return "invalid_spec";
    case ErrorCode::invalid_layout: return "invalid_layout";
    case ErrorCode::invalid_formula: return "invalid_formula";
    case ErrorCode::invalid_argument: return "invalid_argument";
    case ErrorCode::unsupported: return "unsupported";
    case ErrorCode::compile_failed: return "compile_failed";
    case ErrorCode::no_compiler: return "no_compiler";
    case ErrorCode::no_driver: return "no_driver";
    case ErrorCode::no_device: return "no_device";
    case ErrorCode::driver_call: return "driver_call";
    case ErrorCode::missing: return "missing";
    case ErrorCode::io: return "io";
    case ErrorCode::cancelled: return "cancelled";
    case ErrorCode::deadline_exceeded: return "deadline_exceeded";
    case ErrorCode::queue_full: return "queue_full";
  }
  return "unknown";
}

namespace {

// A list of faults has the place in front of each fault, so that of the first is already there.
std::string with_place(const std::string& what, const std::string& where) {
  const bool listed = what.find("\n  " + where + ": ") != std::string::npos;
  return where.empty() || listed ? what : what + " (" + where + ")";
}

}  // namespace

Error::Error(ErrorCode code, const std::string& what, std::string where, std::string log)
    : std::runtime_error(with_place(what, where)),
      code_(code),
      where_(std::move(where)),
      log_(std::move(log)) {}

}  // namespace tilejit
