#pragma once

#include <utility>

#include "bundle_file.hpp"
#include "tilejit/cache/bundle.hpp"

namespace tilejit::cache {

struct Bundle::Impl {
  Impl(const std::filesystem::path& where, Trust trust, const std::optional<PublicKey>& signer,
       Identity identity)
      : path(std::filesystem::absolute(where)),
        file(path.string(), trust, signer, std::move(identity)) {}

  std::filesystem::path path;
  BundleFile file;
};

}  // namespace tilejit::cache
