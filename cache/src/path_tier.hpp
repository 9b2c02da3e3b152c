#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "folder_tier.hpp"
#include "layer.hpp"
#include "tilejit/cache/bundle.hpp"

namespace tilejit::cache {

/// One of the read-only paths: a folder or a bundle, opened when it is first asked. If nothing is
/// there, each request looks again; an unusable bundle is not tried again.
class PathTier : public Layer {
 public:
  struct Rules {
    Trust trust = Trust::own;
    std::optional<PublicKey> signer;  ///< of bundles
    Identity identity;
    std::chrono::microseconds slow_after;  ///< hits that take at least this long are slow
    Warn warn;
  };

  /// Does not access the disk. `path` is absolute.
  PathTier(std::string path, Rules rules) : path_(std::move(path)), rules_(std::move(rules)) {}

  [[nodiscard]] ReadResult read(const std::string& key) override;
  [[nodiscard]] bool has(const std::string& key) override;
  [[nodiscard]] std::vector<std::string> markers(const std::string& kind) override;

 private:
  std::shared_ptr<Layer> open();
  std::shared_ptr<Layer> open_bundle();
  void warn_once(const std::string& message);

  const std::string path_;
  const Rules rules_;
  std::mutex mutex_;  // guards what follows
  std::shared_ptr<Layer> layer_;
  bool unusable_ = false;
  std::atomic<bool> warned_ = false;
};

}  // namespace tilejit::cache
