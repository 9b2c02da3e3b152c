#pragma once

#include <curl/curl.h>

#include <string>
#include <type_traits>

namespace tilejit::cache {

// clang-format off
/// Every function of libcurl that the remote tier calls.
#define TILEJIT_CURL_API(X) \
  X(curl_global_init) X(curl_easy_init) X(curl_easy_cleanup) X(curl_easy_reset) \
  X(curl_easy_setopt) X(curl_easy_getinfo) X(curl_easy_strerror) \
  X(curl_multi_init) X(curl_multi_cleanup) X(curl_multi_add_handle) X(curl_multi_remove_handle) \
  X(curl_multi_perform) X(curl_multi_poll) X(curl_multi_info_read) \
  X(curl_slist_append) X(curl_slist_free_all)
// clang-format on

/// libcurl as a table of functions. It is not linked: loading it and its 30 libraries would slow
/// down the start of every program, even of those without a remote.
struct CurlApi {
#define TILEJIT_CURL_FIELD(fn) std::add_pointer_t<decltype(::fn)> fn##_ = nullptr;
  TILEJIT_CURL_API(TILEJIT_CURL_FIELD)
#undef TILEJIT_CURL_FIELD
};

struct LoadedCurl {
  const CurlApi* api = nullptr;
  std::string reason = {};  ///< why it is not available, and what to do
};

/// libcurl, loaded and initialised by the first call and kept for the rest of the process.
/// Thread-safe.
[[nodiscard]] const LoadedCurl& load_curl();

}  // namespace tilejit::cache
