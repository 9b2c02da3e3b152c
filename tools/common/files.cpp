#include "common/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <utility>

#include "common/command.hpp"
#include "tilejit/cache/publish.hpp"

namespace tilejit::cli {
namespace fs = std::filesystem;
namespace {

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

// Writes to a device or a pipe, which must never be replaced. Returns 0 or an error number.
int write_through(const fs::path& path, std::string_view bytes) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) return errno;
  int error = 0;
  while (!bytes.empty() && error == 0) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written > 0) bytes.remove_prefix(static_cast<std::size_t>(written));
    if (written < 0 && errno != EINTR) error = errno;
  }
  return ::close(fd) == 0 || error != 0 ? error : errno;
}

int write_whole(const fs::path& path, std::string_view bytes) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_regular_file(status)) return write_through(path, bytes);
  const fs::path folder = path.parent_path();
  if (!folder.empty() && !fs::is_directory(folder, error)) return error ? error.value() : ENOTDIR;
  return cache::publish_file(path.string(), bytes);
}

}  // namespace

std::string read_file(const fs::path& path, std::uintmax_t limit, cache::FileKind kind) {
  using Outcome = cache::FileText::Outcome;
  if (path == "-") return read_stream(stdin, "standard input", limit);
  cache::FileText file = cache::read_file(path, {.most_bytes = limit, .kind = kind});
  const char* problem = "could not be read: ";
  switch (file.outcome) {
    case Outcome::read: return std::move(file.bytes);
    case Outcome::missing:
      throw UsageError(fmt::format("{} does not exist; check the path", path.string()));
    case Outcome::folder:
      throw UsageError(fmt::format("{} is a folder; name a file in it", path.string()));
    case Outcome::too_large:
      throw UsageError(
          fmt::format("{} is larger than {} bytes, the most that is read", path.string(), limit));
    case Outcome::not_regular:
    case Outcome::refused: problem = "is not read: "; break;
    case Outcome::failed: break;
  }
  throw UsageError(path.string() + ' ' + problem + file.reason);
}

void write_file(const fs::path& path, std::string_view bytes) {
  if (path == "-") {
    std::fwrite(bytes.data(), 1, bytes.size(), stdout);
    return;
  }
  if (const int error = write_whole(path, bytes)) {
    throw Failure(fmt::format("{} could not be written: {}", path.string(), std::strerror(error)));
  }
}

void check_writable(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  std::string probe = (folder / "probe-XXXXXX").string();
  const int fd = error ? -1 : ::mkostemp(probe.data(), O_CLOEXEC);
  if (fd >= 0 && ::close(fd) == 0 && ::unlink(probe.c_str()) == 0) return;
  throw Failure(fmt::format("{} cannot be written to: {}", folder.string(),
                            error ? error.message() : std::strerror(errno)));
}

}  // namespace tilejit::cli
