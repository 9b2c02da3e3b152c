#include "files.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <system_error>

#include "command.hpp"

namespace tilejit::cli {
namespace fs = std::filesystem;
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

std::string read_stream(std::FILE* file, const std::string& name, std::uintmax_t limit) {
  std::string text;
  char block[1 << 16];
  while (const std::size_t n = std::fread(block, 1, sizeof block, file)) {
    text.append(block, n);
    if (text.size() > limit) {
      throw UsageError(
          fmt::format("{} is larger than {} bytes, the most that is read", name, limit));
    }
  }
  if (std::ferror(file) != 0) {
    throw UsageError(fmt::format("{} could not be read: {}", name, std::strerror(errno)));
  }
  return text;
}

// Removes a temporary file unless it was renamed to its final name.
class TemporaryFile {
 public:
  explicit TemporaryFile(fs::path path) : path_(std::move(path)) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove(path_, ignored);
  }

  [[nodiscard]] const fs::path& path() const noexcept { return path_; }
  void rename_to(const fs::path& target) {
    fs::rename(path_, target);
    path_.clear();
  }

 private:
  fs::path path_;
};

fs::path beside(const fs::path& path) {
  return fs::path(path).concat(fmt::format(".{}.tmp", ::getpid()));
}

void write_whole(const fs::path& path, std::string_view bytes) {
  File file(std::fopen(path.c_str(), "wb"));
  if (!file) throw std::system_error(errno, std::generic_category());
  if (std::fwrite(bytes.data(), 1, bytes.size(), file.get()) != bytes.size() ||
      std::fclose(file.release()) != 0) {
    throw std::system_error(errno, std::generic_category());
  }
}

}  // namespace

std::string read_file(const fs::path& path, std::uintmax_t limit) {
  if (path == "-") return read_stream(stdin, "standard input", limit);
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) {
    throw UsageError(fmt::format("{} does not exist; check the path", path.string()));
  }
  if (status.type() == fs::file_type::directory) {
    throw UsageError(fmt::format("{} is a folder; name a file in it", path.string()));
  }
  const File file(std::fopen(path.c_str(), "rb"));
  if (!file) {
    throw UsageError(
        fmt::format("{} could not be opened: {}", path.string(), std::strerror(errno)));
  }
  return read_stream(file.get(), path.string(), limit);
}

void write_file(const fs::path& path, std::string_view bytes) {
  if (path == "-") {
    std::fwrite(bytes.data(), 1, bytes.size(), stdout);
    return;
  }
  try {
    // A device such as /dev/null is written to, never replaced.
    std::error_code ignored;
    if (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored)) {
      return write_whole(path, bytes);
    }
    TemporaryFile temporary(beside(path));
    write_whole(temporary.path(), bytes);
    temporary.rename_to(path);
  } catch (const std::system_error& error) {
    throw Failure(
        fmt::format("{} could not be written: {}", path.string(), error.code().message()));
  }
}

void check_writable(const fs::path& folder) {
  try {
    fs::create_directories(folder);
    const TemporaryFile probe(beside(folder / "probe"));
    write_whole(probe.path(), "probe");
  } catch (const std::system_error& error) {
    throw Failure(
        fmt::format("{} cannot be written to: {}", folder.string(), error.code().message()));
  }
}

}  // namespace tilejit::cli
