// Redefines functions of the C library: the program's definitions take precedence over those of
// shared libraries. If nobody watches, they do what the C library's do.
#include "system_calls.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <filesystem>
#include <utility>

namespace tilejit::cache {
namespace {

thread_local SystemCalls* watcher = nullptr;

// A file being written is named NAME.PID-RANDOM.tmp: the part that differs between runs is left
// out.
std::string last_part(const std::filesystem::path& path) {
  const auto name = path.filename();
  return name.extension() == ".tmp" ? name.stem().stem().string() + ".tmp" : name.string();
}

std::string file_of(int fd) {
  std::error_code ignored;
  const auto link = "/proc/self/fd/" + std::to_string(fd);
  return last_part(std::filesystem::read_symlink(link, ignored));
}

// True if the call is to fail; errno is then set.
bool fails(const char* name, const std::string& file) {
  if (watcher == nullptr) return false;
  SystemCalls* const noting = std::exchange(watcher, nullptr);  // recording makes calls too
  const int error = noting->note({name, file});
  watcher = noting;
  errno = error;
  return error != 0;
}

bool fails(const char* name, int fd) {
  return watcher != nullptr && fails(name, file_of(fd));
}

}  // namespace

SystemCalls::SystemCalls(Fail fail) : fail_(std::move(fail)) {
  watcher = this;
}

SystemCalls::~SystemCalls() {
  watcher = nullptr;
}

SystemCalls* SystemCalls::active() noexcept {
  return watcher;
}

int SystemCalls::note(Call call) {
  calls_.push_back(std::move(call));
  return fail_ ? fail_(calls_.back()) : 0;
}

std::vector<std::string> SystemCalls::of(const std::vector<std::string>& names) const {
  std::vector<std::string> lines;
  for (const Call& call : calls_) {
    if (std::ranges::count(names, call.name) > 0) lines.push_back(call.name + ' ' + call.file);
  }
  return lines;
}

}  // namespace tilejit::cache

extern "C" {

using tilejit::cache::fails;
using tilejit::cache::last_part;
using tilejit::cache::SystemCalls;

int open(const char* path, int flags, ...) {
  std::va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & (O_CREAT | __O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  if (SystemCalls::active() != nullptr && fails("open", last_part(path))) return -1;
  return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

int openat(int folder, const char* path, int flags, ...) {
  std::va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & (O_CREAT | __O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  if (SystemCalls::active() != nullptr && fails("open", last_part(path))) return -1;
  return static_cast<int>(::syscall(SYS_openat, folder, path, flags, mode));
}

ssize_t write(int fd, const void* data, std::size_t size) {
  SystemCalls* const calls = SystemCalls::active();
  if (calls != nullptr) {
    if (fails("write", fd)) return -1;
    static thread_local bool interrupted = false;
    if (calls->piece() > 0 && (interrupted = !interrupted)) {
      errno = EINTR;
      return -1;
    }
    if (calls->piece() > 0) size = std::min(size, calls->piece());
  }
  return ::syscall(SYS_write, fd, data, size);
}

ssize_t pread(int fd, void* data, std::size_t size, off_t offset) {
  if (fails("pread", fd)) return -1;
  return ::syscall(SYS_pread64, fd, data, size, offset);
}

int fsync(int fd) {
  if (fails("fsync", fd)) return -1;
  return static_cast<int>(::syscall(SYS_fsync, fd));
}

int syncfs(int fd) noexcept {
  if (fails("syncfs", fd)) return -1;
  return static_cast<int>(::syscall(SYS_syncfs, fd));
}

int mkdirat(int folder, const char* path, mode_t mode) noexcept {
  if (SystemCalls::active() != nullptr && fails("mkdir", last_part(path))) return -1;
  return static_cast<int>(::syscall(SYS_mkdirat, folder, path, mode));
}

int renameat(int from, const char* old_name, int to, const char* new_name) noexcept {
  if (SystemCalls::active() != nullptr && fails("rename", last_part(new_name))) return -1;
  return static_cast<int>(::syscall(SYS_renameat2, from, old_name, to, new_name, 0));
}

int unlinkat(int folder, const char* path, int flags) noexcept {
  if (SystemCalls::active() != nullptr && fails("unlink", last_part(path))) return -1;
  return static_cast<int>(::syscall(SYS_unlinkat, folder, path, flags));
}

int fcntl(int fd, int command, ...) {
  std::va_list arguments;
  va_start(arguments, command);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  if (command == F_OFD_SETLK && fails("lock", fd)) return -1;
  return static_cast<int>(::syscall(SYS_fcntl, fd, command, argument));
}

}  // extern "C"
