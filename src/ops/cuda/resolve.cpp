#include "cuda/resolve.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>
#include <vector>

#include "core/suggestion.hpp"
#include "cuda/includes.hpp"
#include "spec/problems.hpp"
#include "templates/templates.hpp"
#include "tilejit/cache/entry.hpp"
#include "tilejit/cache/files.hpp"
#include "tilejit/error.hpp"

namespace tilejit::cuda {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostText = 512 * 1024;
constexpr std::size_t kMostHeaderBytes = 16u << 20;

[[noreturn]] void refuse_source(const std::string& why) {
  throw Error(ErrorCode::invalid_spec, why, "/source");
}

std::string read_source(const fs::path& path) {
  cache::FileText file = cache::read_file(path, {.most_bytes = kMostHeaderBytes});
  if (file.outcome == cache::FileText::Outcome::read) return std::move(file.bytes);
  throw Error(ErrorCode::io,
              "the source " + path.string() + " could not be read: " + file.reason +
                  "; check \"source\", which is relative to the spec",
              "/source");
}

/// Names go into #line directives and, of toolkits, into the text of keys.
bool is_plain(const std::string& name) {
  return std::ranges::none_of(name, [](char c) {
    return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
}

bool climbs(const fs::path& path) {
  return path.is_absolute() || std::ranges::find(path, fs::path("..")) != path.end();
}

/// Finds the files that a source includes, each once.
class IncludeReader {
 public:
  explicit IncludeReader(Resolved& kernel, fs::path folder)
      : kernel_(kernel), folder_(std::move(folder)), given_(std::move(kernel.headers)) {
    kernel_.headers.clear();
  }

  void read() {
    follow({.name = kernel_.source.string(), .text = kernel_.text, .folder = folder_});
    std::ranges::sort(kernel_.headers);
  }

 private:
  struct File {
    std::string name;
    std::string text;
    fs::path folder;  // empty: of no file
  };

  void follow(const File& file) {
    open_.push_back(file.name);
    if (open_.size() > 64) refuse_source(place_of(file, 1) + "is the 64th level of includes");
    for (const Include& include : find_includes(file.text)) take(file, include);
    open_.pop_back();
  }

  /// "a.cuh line 3 "
  static std::string place_of(const File& file, int line) {
    return file.name + " line " + std::to_string(line) + " ";
  }
  static std::string spelled(const Include& include) {
    return include.quoted ? '"' + include.name + '"' : '<' + include.name + '>';
  }

  void take(const File& from, const Include& include) {
    const std::string place = place_of(from, include.line) + "includes " + spelled(include);
    if (include.name == "plan.cuh") return;
    if (include.name.starts_with("tile/")) return check_tile(include, place);
    if (climbs(include.name)) {
      refuse_source(place +
                    "; an include names no '..' and no absolute path: use \"include_dirs\"");
    }
    if (std::ranges::find(open_, include.name) != open_.end()) refuse_cycle(include.name);
    if (auto file = find(from, include)) return add(*std::move(file), place);
    if (in_toolkit(include.name)) return;
    if (include.quoted && !include.conditional) {
      refuse_source(place + ", which is neither beside that file nor in \"include_dirs\"");
    }
  }

  static void check_tile(const Include& include, const std::string& place) {
    if (std::ranges::find(templates::tile_library(), include.name, &templates::Template::name) !=
        templates::tile_library().end())
      return;
    std::vector<std::string_view> known;
    for (const templates::Template& file : templates::tile_library()) known.push_back(file.name);
    refuse_source(place + ", which the tile library does not have" +
                  core::did_you_mean(core::nearest_name(include.name, known)));
  }

  [[noreturn]] void refuse_cycle(const std::string& name) const {
    std::string chain;
    for (auto at = std::ranges::find(open_, name); at != open_.end(); ++at)
      chain += *at + " includes ";
    refuse_source(chain + name + ": a cycle; move what both need into a third file");
  }

  [[nodiscard]] std::optional<File> find(const File& from, const Include& include) const {
    for (const auto& [name, text] : given_) {
      if (name == include.name) return File{name, text, {}};
    }
    std::vector<fs::path> folders;
    if (include.quoted && !from.folder.empty()) folders.push_back(from.folder);
    folders.insert(folders.end(), kernel_.include_dirs.begin(), kernel_.include_dirs.end());
    for (const fs::path& folder : folders) {
      const fs::path path = folder / include.name;
      cache::FileText file = cache::read_file(path, {.most_bytes = kMostHeaderBytes});
      if (file.outcome != cache::FileText::Outcome::read) continue;
      return File{include.name, std::move(file.bytes), path.parent_path()};
    }
    return std::nullopt;
  }

  void add(File file, const std::string& place) {
    const auto found =
        std::ranges::find(kernel_.headers, file.name, &std::pair<std::string, std::string>::first);
    if (found != kernel_.headers.end()) {
      if (found->second == file.text) return;
      refuse_source(place + ", and another file of that name is included too; rename one");
    }
    bytes_ += file.text.size();
    if (bytes_ > kMostHeaderBytes) {
      refuse_source(place + ": more than 16 MiB of headers; include fewer");
    }
    kernel_.headers.emplace_back(file.name, file.text);
    follow(file);
  }

  bool in_toolkit(const std::string& name) {
    if (!looked_for_toolkit_) toolkit_ = find_toolkit();
    looked_for_toolkit_ = true;
    if (!toolkit_ || !std::ranges::all_of(toolkit_->folders, is_plain)) return false;
    if (!has_header(*toolkit_, name)) return false;
    kernel_.toolkit = toolkit_;
    return true;
  }

  Resolved& kernel_;
  fs::path folder_;
  std::vector<std::pair<std::string, std::string>> given_;
  std::vector<std::string> open_;  // files from the source to the one being read
  std::optional<Toolkit> toolkit_;
  bool looked_for_toolkit_ = false;
  std::size_t bytes_ = 0;
};

/// Lengths keep ("a", "bc") and ("ab", "c") apart.
std::string digest_of(const Resolved& kernel) {
  std::string all;
  const auto add = [&](const std::string& text) {
    (all += std::to_string(text.size()) += ':') += text;
  };
  add(kernel.source.string());
  add(kernel.text);
  for (const auto& [name, text] : kernel.headers) {
    add(name);
    add(text);
  }
  return cache::sha256_hex(all);
}

}  // namespace

Resolved resolve(CudaKernel kernel) {
  Resolved made{std::move(kernel)};
  if (made.entry.empty()) made.entry = made.name;
  fs::path folder;
  if (made.text.empty()) {
    if (made.source.empty()) {
      throw Error(ErrorCode::invalid_spec,
                  "the kernel has no source; write \"source\": \"FILE.cu\" or \"text\": \"...\"");
    }
    made.text = read_source(made.source);
    folder = made.source.has_parent_path() ? made.source.parent_path() : fs::path(".");
  }
  if (made.text.size() > kMostText) {
    throw Error(ErrorCode::unsupported,
                "the source has " + std::to_string(made.text.size()) +
                    " bytes, and a kernel's has at most " + std::to_string(kMostText) +
                    "; pass tables as tensors",
                "/source");
  }
  // Without folders, so that equal kernels of two machines have equal keys.
  made.source = made.source.empty() ? fs::path(made.name + ".cu") : made.source.filename();
  if (!is_plain(made.source.string())) {
    refuse_source("the name " + spec::in_quotes(made.source.string()) +
                  " has a quote, a backslash or a control character; rename the file");
  }
  IncludeReader(made, std::move(folder)).read();
  made.include_dirs.clear();
  made.digest = digest_of(made);
  return made;
}

}  // namespace tilejit::cuda
