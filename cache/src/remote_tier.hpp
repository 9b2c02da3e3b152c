#pragma once

#include <string>

#include "layer.hpp"
#include "remote/remote_store.hpp"

namespace tilejit::cache {

/// The entries of a server. Thread-safe.
class RemoteTier : public Layer {
 public:
  /// Throws std::invalid_argument for an unusable url.
  RemoteTier(RemoteOptions options, Identity identity);

  [[nodiscard]] ReadResult read(const std::string& key) override;
  [[nodiscard]] std::vector<std::string> markers(const std::string& kind) override;
  /// Uploads in the background if the mode allows it.
  void publish(const std::string& key, const Entry& entry);

  [[nodiscard]] RemoteCounters counters() const { return store_.counters(); }
  [[nodiscard]] bool must_hit() const noexcept { return store_.mode() == RemoteMode::must_hit; }
  [[nodiscard]] const std::string& name() const noexcept { return store_.name(); }

 private:
  RemoteStore store_;
};

}  // namespace tilejit::cache
