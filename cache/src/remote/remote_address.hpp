#pragma once

#include <string>
#include <string_view>

#include "tilejit/cache/remote_options.hpp"

namespace tilejit::cache {

/// The place where a remote keeps its entries.
struct RemoteAddress {
  std::string name;    ///< for messages: the url without user and password
  std::string origin;  ///< "https://host:8443": lower case, without the scheme's default port
  std::string host;    ///< "host:8443", as in the Host header
  std::string user, password;
  std::string before_key, after_key;  ///< the path around the key, percent-encoded
  bool folders = true;                ///< whether `<k0k1>/` precedes the key
  bool s3 = false;

  [[nodiscard]] std::string path_of(std::string_view key) const;
};

/// Throws std::invalid_argument, with a sentence that has no credentials, unless the url and its
/// settings can be used.
[[nodiscard]] RemoteAddress remote_address_of(const RemoteOptions& options);

/// The origin of an absolute http or https url; empty for any other url and for one with a user.
[[nodiscard]] std::string origin_of(std::string_view url);

}  // namespace tilejit::cache
