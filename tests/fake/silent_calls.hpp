#pragma once

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace tilejit {

/// Calls of destructors, which cannot report errors, and the call that asks whether to make them. A
/// thread's capture mode is set in pairs: first temporarily, which may fail, then back.
inline bool is_silent(const std::vector<std::string>& calls, std::size_t i) {
  static const std::set<std::string> destroying = {"cuCtxGetId",      "cuDevicePrimaryCtxRelease",
                                                   "cuCtxPopCurrent", "cuLibraryUnload",
                                                   "cuMemFree",       "cuMemFreeAsync",
                                                   "cuMemFreeHost",   "cuMemPoolDestroy",
                                                   "cuStreamDestroy", "cuEventDestroy",
                                                   "cuGraphDestroy",  "cuGraphExecDestroy"};
  const std::string exchange = "cuThreadExchangeStreamCaptureMode";
  if (calls[i] == exchange) {
    return std::count(calls.begin(), calls.begin() + static_cast<std::ptrdiff_t>(i), exchange) % 2;
  }
  return destroying.contains(calls[i]) ||
         (calls[i] == "cuCtxPushCurrent" && calls[i + 1].starts_with("cuMemFree"));
}

}  // namespace tilejit
