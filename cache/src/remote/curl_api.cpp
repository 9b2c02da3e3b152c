#include "remote/curl_api.hpp"

#include <dlfcn.h>

namespace tilejit::cache {
namespace {

// The ABI behind this soname has been the same since 2006. Distributions that build libcurl with
// GnuTLS rename the file.
constexpr const char* kLibraries[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};

void* open_library(std::string& reason) {
  for (const char* name : kLibraries) {
    // Never closed: libcurl's TLS library has its own exit handlers.
    if (void* library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)) return library;
    const char* text = ::dlerror();
    if (reason.empty()) reason = text != nullptr ? text : "no reason given";
  }
  reason = "libcurl could not be loaded (" + reason + "); install the package libcurl4";
  return nullptr;
}

// Returns null if a function is missing; `reason` then names it.
const CurlApi* resolve(void* library, std::string& reason) {
  static CurlApi api;
#define TILEJIT_CURL_RESOLVE(fn)                                            \
  api.fn##_ = reinterpret_cast<decltype(api.fn##_)>(::dlsym(library, #fn)); \
  if (api.fn##_ == nullptr) reason = "libcurl has no function " #fn "; install 7.66 or later";
  TILEJIT_CURL_API(TILEJIT_CURL_RESOLVE)
#undef TILEJIT_CURL_RESOLVE
  return reason.empty() ? &api : nullptr;
}

LoadedCurl load() {
  LoadedCurl loaded;
  void* library = open_library(loaded.reason);
  if (library == nullptr) return loaded;
  loaded.reason.clear();
  const CurlApi* api = resolve(library, loaded.reason);
  if (api == nullptr) return loaded;
  if (api->curl_global_init_(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
    loaded.reason = "libcurl could not be initialised";
    return loaded;
  }
  loaded.api = api;
  return loaded;
}

}  // namespace

const LoadedCurl& load_curl() {
  static const LoadedCurl loaded = load();
  return loaded;
}

}  // namespace tilejit::cache
