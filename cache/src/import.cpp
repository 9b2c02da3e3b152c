#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

#include "bundle_impl.hpp"
#include "folder_tier.hpp"
#include "names.hpp"
#include "tilejit/cache/bundle.hpp"

namespace tilejit::cache {
namespace fs = std::filesystem;
namespace {

/// One import. Before `commit` it writes only temporaries, which its destructor removes.
class BundleImport {
 public:
  BundleImport(const BundleFile& bundle, const fs::path& folder, Trust trust)
      : bundle_(bundle),
        folder_(Tree(fs::absolute(folder).string(), trust), FolderTier::Access::read_only, nullptr,
                bundle.identity()) {}

  ImportReport run() {
    const auto markers = read_markers();
    bundle_.each([this](const Record& record) { write(record); });
    if (!files_.empty()) commit();
    // The marker added last is the newest.
    for (auto marker = markers.rbegin(); marker != markers.rend(); ++marker) {
      (void)folder_.add_marker(marker->first, marker->second);
    }
    return report_;
  }

 private:
  void check(int error) const {
    if (error == 0) return;
    throw std::runtime_error("nothing of the bundle " + bundle_.path() + " is imported into " +
                             folder_.tree().folder() + ": " + describe(error));
  }

  int open_folder(const std::string& name) {
    UniqueFd& fd = folders_[name];
    if (!fd.valid()) check(folder_.tree().make(name, fd));
    return fd.get();
  }

  void write(const Record& record) {
    const std::string key = to_hex(record.key);
    if (folder_.read(key).status == Status::hit) {
      ++report_.present;
      return;
    }
    const auto bytes = bundle_.file_of(record);
    if (!bytes) check(EIO);  // it was intact a moment ago, so somebody is writing to the file
    const int folder = open_folder(key.substr(0, 2));
    AtomicFile file(folder, entry_name(key));
    check(file.create());
    check(file.append(*bytes));
    file.close();
    files_.push_back(std::move(file));
    names_.emplace_back(folder, entry_name(key));
    ++report_.added;
    report_.added_bytes += bytes->size();
  }

  // One sync of the file system is far cheaper than one per file.
  void commit() {
    check(::syncfs(folders_.begin()->second.get()) == 0 ? 0 : errno);
    for (std::size_t i = 0; i < files_.size(); ++i) {
      const int error = files_[i].commit();
      if (error == 0) continue;
      for (std::size_t j = 0; j < i; ++j) {
        ::unlinkat(names_[j].first, names_[j].second.c_str(), 0);
      }
      check(error);
    }
    for (const auto& [name, fd] : folders_) (void)::fsync(fd.get());
  }

  using Markers = std::vector<std::pair<std::string, std::string>>;  // kind, name

  // Called before anything is written: a name from a file must not lead to another folder.
  [[nodiscard]] Markers read_markers() const {
    Markers markers;
    std::string_view text = bundle_.marker_text();
    while (!text.empty()) {
      const std::string_view line = text.substr(0, text.find('\n'));
      text.remove_prefix(std::min(text.size(), line.size() + 1));
      const std::size_t slash = std::min(line.find('/'), line.size());
      markers.emplace_back(line.substr(0, slash), line.substr(std::min(slash + 1, line.size())));
      check_kind(markers.back().first);
      check_marker(markers.back().second);
    }
    return markers;
  }

  const BundleFile& bundle_;
  FolderTier folder_;
  std::map<std::string, UniqueFd> folders_;  // outlive the files in them
  std::vector<AtomicFile> files_;
  std::vector<std::pair<int, std::string>> names_;  // for each of files_, its folder and final name
  ImportReport report_;
};

}  // namespace

ImportReport import_bundle(const Bundle& bundle, const fs::path& folder, Trust trust) {
  const VerifyReport verified = bundle.verify();
  if (!verified.damaged.empty()) {
    throw std::runtime_error("nothing of the bundle " + bundle.path().string() +
                             " is imported: it is damaged at " + verified.damaged.front() +
                             "; fetch or export it again");
  }
  return BundleImport(bundle.impl_->file, folder, trust).run();
}

}  // namespace tilejit::cache
