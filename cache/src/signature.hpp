#pragma once

#include <array>
#include <string>
#include <string_view>

#include "tilejit/cache/bundle.hpp"

namespace tilejit::cache {

using Signature = std::array<unsigned char, 64>;

struct Signed {
  PublicKey signer;
  Signature signature;
};

/// Signs with an Ed25519 private key in PEM. Throws std::invalid_argument if the text is no such
/// key.
[[nodiscard]] Signed sign(std::string_view message, const std::string& private_key);
[[nodiscard]] bool is_signed_by(std::string_view message, const PublicKey& signer,
                                const Signature& signature) noexcept;

}  // namespace tilejit::cache
