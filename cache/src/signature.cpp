#include "signature.hpp"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <memory>
#include <stdexcept>

namespace tilejit::cache {
namespace {

struct Free {
  void operator()(BIO* bio) const noexcept { BIO_free(bio); }
  void operator()(EVP_PKEY* key) const noexcept { EVP_PKEY_free(key); }
  void operator()(EVP_MD_CTX* context) const noexcept { EVP_MD_CTX_free(context); }
};
using Bio = std::unique_ptr<BIO, Free>;
using Key = std::unique_ptr<EVP_PKEY, Free>;
using Context = std::unique_ptr<EVP_MD_CTX, Free>;

const unsigned char* bytes_of(std::string_view text) noexcept {
  return reinterpret_cast<const unsigned char*>(text.data());
}

Bio reader(const std::string& pem) {
  return Bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
}

// Prevents OpenSSL from asking for a pass phrase on the terminal if a key has one.
int no_pass_phrase(char*, int, int, void*) {
  return -1;
}

void check_kind(const Key& key, const char* kind) {
  if (key && EVP_PKEY_id(key.get()) == EVP_PKEY_ED25519) return;
  throw std::invalid_argument(std::string("the text is no Ed25519 ") + kind +
                              " key in PEM without a pass phrase; make one with openssl genpkey "
                              "-algorithm ed25519");
}

PublicKey public_part(const Key& key) {
  PublicKey bytes = {};
  std::size_t size = bytes.size();
  if (EVP_PKEY_get_raw_public_key(key.get(), bytes.data(), &size) != 1 || size != bytes.size()) {
    throw std::invalid_argument("the key has no public part");
  }
  return bytes;
}

}  // namespace

PublicKey parse_public_key(const std::string& pem) {
  const Key key(PEM_read_bio_PUBKEY(reader(pem).get(), nullptr, no_pass_phrase, nullptr));
  check_kind(key, "public");
  return public_part(key);
}

Signed sign(std::string_view message, const std::string& private_key) {
  const Key key(
      PEM_read_bio_PrivateKey(reader(private_key).get(), nullptr, no_pass_phrase, nullptr));
  check_kind(key, "private");
  Signed result = {.signer = public_part(key), .signature = {}};
  const Context context(EVP_MD_CTX_new());
  std::size_t size = result.signature.size();
  if (EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key.get()) != 1 ||
      EVP_DigestSign(context.get(), result.signature.data(), &size, bytes_of(message),
                     message.size()) != 1) {
    throw std::invalid_argument("the private key could not sign");
  }
  return result;
}

bool is_signed_by(std::string_view message, const PublicKey& signer,
                  const Signature& signature) noexcept {
  const Key key(
      EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, signer.data(), signer.size()));
  const Context context(EVP_MD_CTX_new());
  return key && context &&
         EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
         EVP_DigestVerify(context.get(), signature.data(), signature.size(), bytes_of(message),
                          message.size()) == 1;
}

}  // namespace tilejit::cache
