// Uses the low-level calls, deprecated in OpenSSL 3, on purpose. The first EVP digest of a process
// fetches its algorithm from a provider, which takes 1.4 to 2.2 ms (measured), more than everything
// else in a hit of a fresh process. The first low-level digest takes 0.07 ms. The hashing code is
// the same.
#define OPENSSL_API_COMPAT 0x10100000L

#include "sha256.hpp"

#include <openssl/sha.h>

#include "tilejit/cache/entry.hpp"

namespace tilejit::cache {

Digest sha256(std::string_view bytes) noexcept {
  Digest digest;
  SHA256_CTX context;
  SHA256_Init(&context);
  SHA256_Update(&context, bytes.data(), bytes.size());
  SHA256_Final(digest.data(), &context);
  return digest;
}

std::string to_hex(const Digest& digest) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  hex.reserve(2 * digest.size());
  for (const unsigned char byte : digest) {
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

Digest from_hex(std::string_view hex) noexcept {
  const auto value = [](char digit) { return digit <= '9' ? digit - '0' : digit - 'a' + 10; };
  Digest digest;
  for (std::size_t i = 0; i < digest.size(); ++i) {
    digest[i] = static_cast<unsigned char>(value(hex[2 * i]) << 4 | value(hex[2 * i + 1]));
  }
  return digest;
}

std::string sha256_hex(std::string_view text) {
  return to_hex(sha256(text));
}

}  // namespace tilejit::cache
