#pragma once

#include <sys/stat.h>

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "entry_file.hpp"
#include "layer.hpp"
#include "tree.hpp"

namespace tilejit::cache {

using Warn = std::function<void(const std::string&)>;

/// Entries as files under `<folder>/v1/`. Thread-safe. Any number of processes may share a folder.
class FolderTier : public Layer {
 public:
  enum class Access : std::uint8_t {
    read_write,  ///< sets damaged entries aside and marks used ones as used
    read_only,   ///< never changes anything in the folder
  };

  FolderTier(Tree tree, Access access, Warn warn, Identity identity)
      : tree_(std::move(tree)),
        access_(access),
        warn_(std::move(warn)),
        identity_(std::move(identity)) {}

  [[nodiscard]] ReadResult read(const std::string& key) override;
  /// Counts as a use.
  [[nodiscard]] bool has(const std::string& key) override;
  [[nodiscard]] std::vector<std::string> markers(const std::string& kind) override;

  /// Returns false if the disk cannot take the entry; that is warned of, and nothing of the entry
  /// stays. Calls `visible` when others can find the entry.
  [[nodiscard]] bool publish(const std::string& key, const Entry& entry,
                             const std::function<void()>& visible = {});
  [[nodiscard]] bool keep(const std::string& key, const std::string& suffix,
                          const std::string& text);
  [[nodiscard]] bool add_marker(const std::string& kind, const std::string& name);

  /// The metadata of an entry, not verified; nothing if there is no entry or its trailer does not
  /// match.
  [[nodiscard]] std::optional<std::string> metadata(const std::string& key) const;

  [[nodiscard]] std::string path_of(const std::string& key) const;
  [[nodiscard]] const Tree& tree() const noexcept { return tree_; }

 private:
  enum class Trouble : std::uint8_t { refused, reading, publishing, marking, damage };

  bool write(const std::string& key, const std::string& name, const std::string& bytes,
             const std::function<void()>& visible);
  int open_entry(const std::string& key, UniqueFd& file, struct stat& info) const;
  [[nodiscard]] std::optional<EntryLengths> open_whole(const std::string& key, UniqueFd& file,
                                                       struct stat& info) const;
  ReadResult read_open(int fd, const struct stat& info, const std::string& key);
  ReadResult failed_read(const std::string& key, int error);
  ReadResult damaged(int fd, const std::string& key, Status status = Status::damaged);
  void set_aside(int fd, const std::string& key) const;
  bool report(Trouble trouble, const std::string& what, const std::string& path, int error);
  void warn_once(Trouble trouble, const std::string& message);

  Tree tree_;
  Access access_;
  Warn warn_;
  Identity identity_;
  std::atomic<unsigned> warned_ = 0;  // one bit per Trouble
};

}  // namespace tilejit::cache
