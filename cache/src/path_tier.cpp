#include "path_tier.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <exception>
#include <utility>

#include "bundle_file.hpp"

namespace tilejit::cache {
namespace {

class BundleTier : public Layer {
 public:
  BundleTier(std::unique_ptr<const BundleFile> bundle, Warn warn)
      : bundle_(std::move(bundle)), warn_(std::move(warn)) {}

  ReadResult read(const std::string& key) override {
    ReadResult result = bundle_->read(key);
    if (result.status == Status::damaged) {
      warn_once("is damaged at " + key);
    } else if (result.status == Status::misplaced) {
      warn_once("has another key's entry under the key " + key);
    } else if (result.status == Status::failed) {
      warn_once("was cut short or cannot be read; replace bundles by a rename");
    }
    return result;
  }
  bool has(const std::string& key) override { return bundle_->has(key); }
  std::vector<std::string> markers(const std::string& kind) override {
    return bundle_->markers(kind);
  }

 private:
  void warn_once(const std::string& what) {
    if (warned_.exchange(true) || !warn_) return;
    warn_("the bundle " + bundle_->path() + ' ' + what + "; going on without it");
  }

  std::unique_ptr<const BundleFile> bundle_;
  Warn warn_;
  std::atomic<bool> warned_ = false;
};

}  // namespace

ReadResult PathTier::read(const std::string& key) {
  const std::shared_ptr<Layer> layer = open();
  if (!layer) return {Status::failed};
  using namespace std::chrono;
  const auto start = steady_clock::now();  // after opening, which happens once and does not count
  ReadResult result = layer->read(key);
  const auto took = duration_cast<microseconds>(steady_clock::now() - start);
  result.slow = result.entry && took >= rules_.slow_after;
  return result;
}

bool PathTier::has(const std::string& key) {
  const std::shared_ptr<Layer> layer = open();
  return layer && layer->has(key);
}

std::vector<std::string> PathTier::markers(const std::string& kind) {
  const std::shared_ptr<Layer> layer = open();
  return layer ? layer->markers(kind) : std::vector<std::string>();
}

std::shared_ptr<Layer> PathTier::open() {
  const std::lock_guard lock(mutex_);
  if (layer_ || unusable_) return layer_;
  struct stat info;
  if (::stat(path_.c_str(), &info) != 0) {
    warn_once("the read-only cache " + path_ + " cannot be found: " + describe(errno) +
              "; going on without it");
  } else if (S_ISDIR(info.st_mode)) {
    layer_ = std::make_shared<FolderTier>(Tree(path_, rules_.trust), FolderTier::Access::read_only,
                                          rules_.warn, rules_.identity);
  } else {
    layer_ = open_bundle();
    unusable_ = !layer_;
  }
  return layer_;
}

std::shared_ptr<Layer> PathTier::open_bundle() {
  try {
    auto bundle =
        std::make_unique<const BundleFile>(path_, rules_.trust, rules_.signer, rules_.identity);
    return std::make_shared<BundleTier>(std::move(bundle), rules_.warn);
  } catch (const std::exception& error) {
    warn_once(std::string(error.what()) + "; going on without it");
    return nullptr;
  }
}

void PathTier::warn_once(const std::string& message) {
  if (!warned_.exchange(true) && rules_.warn) rules_.warn(message);
}

}  // namespace tilejit::cache
