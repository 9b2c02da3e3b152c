#pragma once

#include "mapped_bundle.hpp"
#include "tilejit/cache/bundle.hpp"

namespace tilejit::cache {

struct Bundle::Impl {
  Impl(const std::filesystem::path& where, Trust trust, const std::optional<PublicKey>& signer)
      : path(std::filesystem::absolute(where)), mapped(path.string(), trust, signer) {}

  std::filesystem::path path;
  MappedBundle mapped;
};

}  // namespace tilejit::cache
