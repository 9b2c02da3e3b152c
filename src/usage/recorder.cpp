#include "usage/recorder.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

#include "tilejit/cache/files.hpp"
#include "tilejit/manifest.hpp"
#include "usage/manifest_id.hpp"

namespace tilejit::usage {
namespace {

constexpr std::string_view kLineStart = "{\"id\":\"";

std::string id_of(std::string_view line) {
  return std::string(line.substr(kLineStart.size(), kIdDigits));
}

bool is_entry(std::string_view line) noexcept {
  return line.size() > kLineStart.size() + kIdDigits && line.starts_with(kLineStart) &&
         line.ends_with('}');
}

}  // namespace

Recorder::Recorder(std::filesystem::path path, Warn warn)
    : path_(std::move(path)), warn_(std::move(warn)) {
  std::error_code ignored;
  if (path_.has_parent_path()) std::filesystem::create_directories(path_.parent_path(), ignored);
  constexpr int kFlags = O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  fd_ = cache::above_stdio(::open(path_.c_str(), kFlags, 0644));
  struct stat info;
  if (fd_ < 0 || ::fstat(fd_, &info) != 0) {
    give_up(errno);
  } else if (!S_ISREG(info.st_mode)) {
    give_up(EINVAL);
  } else {
    read_ids();
  }
}

Recorder::~Recorder() {
  if (fd_ >= 0) ::close(fd_);
}

void Recorder::read_ids() {
  std::array<char, 1 << 16> block;
  std::string rest;
  for (off_t at = 0;;) {
    const ssize_t n = ::pread(fd_, block.data(), block.size(), at);
    if (n <= 0) break;
    at += n;
    rest.append(block.data(), static_cast<std::size_t>(n));
    std::size_t begin = 0;
    for (std::size_t end = rest.find('\n'); end != std::string::npos;
         end = rest.find('\n', begin)) {
      const std::string_view line = std::string_view(rest).substr(begin, end - begin);
      if (is_entry(line)) ids_.insert(id_of(line));
      begin = end + 1;
    }
    rest.erase(0, begin);
  }
}

std::string Recorder::first_use(const Operation& op, const Target& target) {
  const std::string line = manifest_line(op, target);
  std::string id = id_of(line);
  const std::lock_guard lock(mutex_);
  if (fd_ < 0) return {};
  if (ids_.insert(id).second) append(line);
  return id;
}

void Recorder::finish(const std::unordered_map<std::string, std::uint64_t>& uses) noexcept {
  try {
    std::string line;
    for (const auto& [id, count] : uses) {
      line += (line.empty() ? "{\"uses\":{\"" : ",\"") + id + "\":" + std::to_string(count);
    }
    const std::lock_guard lock(mutex_);
    if (fd_ >= 0 && !line.empty()) append(line + "}}");
  } catch (const std::exception&) {
    // Counts are only for people; the manifest is complete without them.
  }
}

// Starts on a new line, so that a line torn by a process that died does not swallow this one.
void Recorder::append(const std::string& line) {
  struct stat info;
  char last = '\n';
  if (::fstat(fd_, &info) != 0) return give_up(errno);
  if (info.st_size > 0) (void)::pread(fd_, &last, 1, info.st_size - 1);
  const std::string bytes = (last == '\n' ? "" : "\n") + line + '\n';
  const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
  if (written != static_cast<ssize_t>(bytes.size())) give_up(written < 0 ? errno : ENOSPC);
}

void Recorder::give_up(int error) {
  if (warn_) {
    warn_("what is used is not recorded: " + path_.string() +
          " cannot be written: " + std::generic_category().message(error));
  }
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

}  // namespace tilejit::usage
