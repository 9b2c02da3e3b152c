#include "compile/disassemble.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

#include "compile/toolkit.hpp"
#include "tilejit/cache/files.hpp"
#include "tilejit/error.hpp"

extern char** environ;  // NOLINT: POSIX's

namespace tilejit::compile {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPrograms[] = {"nvdisasm", "cuobjdump"};

[[noreturn]] void fail(const fs::path& program, const std::string& why) {
  throw Error(ErrorCode::io, program.string() + " " + why, program.string());
}

std::optional<fs::path> program_in(const fs::path& folder, const char* name) {
  const fs::path program = folder / name;
  std::error_code ignored;
  const bool usable = fs::is_regular_file(program, ignored) && ::access(program.c_str(), X_OK) == 0;
  return usable ? std::optional(program) : std::nullopt;
}

std::vector<fs::path> folders(std::string_view search_path, const fs::path& nvrtc) {
  std::vector<fs::path> all;
  while (!search_path.empty()) {
    const std::string_view folder = search_path.substr(0, search_path.find(':'));
    search_path.remove_prefix(std::min(folder.size() + 1, search_path.size()));
    if (folder.starts_with('/')) all.emplace_back(folder);
  }
  // The folder is a toolkit's lib64 or targets/<platform>/lib.
  const fs::path lib = nvrtc.parent_path();
  if (!lib.empty()) {
    all.push_back(lib.parent_path() / "bin");
    all.push_back(lib.parent_path().parent_path().parent_path() / "bin");
  }
  all.emplace_back("/usr/local/cuda/bin");
  std::erase_if(all, is_hidden);
  return all;
}

/// A file that is removed at the end of the scope.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view bytes)
      : path_((fs::temp_directory_path() / "tilejit-XXXXXX").string()) {
    const int file = cache::above_stdio(::mkostemp(path_.data(), O_CLOEXEC));
    const bool written = file >= 0 && ::write(file, bytes.data(), bytes.size()) ==
                                          static_cast<ssize_t>(bytes.size());
    if (file >= 0) ::close(file);
    if (written) return;
    remove();
    throw Error(ErrorCode::io, "a temporary file could not be written", path_);
  }
  ~TemporaryFile() { remove(); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  void remove() noexcept { ::unlink(path_.c_str()); }
  std::string path_;
};

/// A pipe; both ends are closed at the end of the scope.
struct Pipe {
  std::array<int, 2> ends = {-1, -1};
  ~Pipe() {
    close(0);
    close(1);
  }
  void close(std::size_t end) noexcept {
    if (ends[end] >= 0) ::close(ends[end]);
    ends[end] = -1;
  }
};

using Clock = std::chrono::steady_clock;

/// Reads to the end of the pipe; nothing if the end does not come before `deadline`.
std::optional<std::string> read_all(int file, Clock::time_point deadline) {
  std::string text;
  std::array<char, 65536> block;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return std::nullopt;
    pollfd ready{.fd = file, .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, static_cast<int>(std::min<long>(left, 1 << 30))) <= 0) continue;
    const ssize_t count = ::read(file, block.data(), block.size());
    if (count > 0) text.append(block.data(), static_cast<std::size_t>(count));
    if (count == 0 || (count < 0 && errno != EINTR)) return text;
  }
}

/// Waits for the exit status (as of waitpid). Kills the child at `deadline`.
int wait_for(pid_t child, Clock::time_point deadline) {
  int status = 0;
  for (bool killed = false;;) {
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child || (ended < 0 && errno != EINTR)) return status;
    if (!killed && Clock::now() >= deadline) {
      killed = true;
      ::kill(child, SIGKILL);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

struct Actions {
  Actions() { ::posix_spawn_file_actions_init(&value); }
  ~Actions() { ::posix_spawn_file_actions_destroy(&value); }
  posix_spawn_file_actions_t value;
};

pid_t start(const fs::path& program, const std::string& cubin, int output) {
  std::string name = program.string(), path = cubin;
  std::string flag = program.filename() == kPrograms[0] ? "--print-code" : "--dump-sass";
  std::array<char*, 4> arguments = {name.data(), flag.data(), path.data(), nullptr};
  Actions actions;
  ::posix_spawn_file_actions_adddup2(&actions.value, output, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions.value, output, STDERR_FILENO);
  pid_t child = 0;
  const int error =
      ::posix_spawn(&child, name.c_str(), &actions.value, nullptr, arguments.data(), environ);
  if (error != 0) fail(program, std::string("could not be started: ") + std::strerror(error));
  return child;
}

}  // namespace

std::optional<fs::path> find_disassembler(std::string_view search_path, const fs::path& nvrtc) {
  const std::vector<fs::path> all = folders(search_path, nvrtc);
  for (const char* name : kPrograms) {
    for (const fs::path& folder : all) {
      if (auto program = program_in(folder, name)) return program;
    }
  }
  return std::nullopt;
}

std::string disassemble(const fs::path& program, std::string_view cubin,
                        std::chrono::milliseconds time) {
  const auto deadline = Clock::now() + time;
  const TemporaryFile file(cubin);
  Pipe pipe;
  if (::pipe2(pipe.ends.data(), O_CLOEXEC) != 0) fail(program, "could not be given a pipe");
  for (int& end : pipe.ends) end = cache::above_stdio(end);
  const pid_t child = start(program, file.path(), pipe.ends[1]);
  pipe.close(1);
  const std::optional<std::string> text = read_all(pipe.ends[0], deadline);
  const int status = wait_for(child, deadline);
  if (!text) {
    fail(program, "gave no answer within " + std::to_string(time.count()) + " ms, and was ended");
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return *text;
  fail(program, "failed: " + (text->empty() ? "it said nothing" : text->substr(0, 200)));
}

}  // namespace tilejit::compile
