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

/// What one path of the read-only ones leads to, a folder or a bundle, opened when it is first
/// asked. Where nothing is, it is looked for again at each request; a bundle that cannot be used is
/// not.
class PathTier : public Layer {
 public:
  struct Rules {
    Trust trust = Trust::own;
    std::optional<PublicKey> signer;  ///< of bundles
    Identity identity;
    std::chrono::microseconds slow_after;  ///< hits that take as long or longer are slow
    Warn warn;
  };

  /// Touches nothing on the disk. `path` is absolute.
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
