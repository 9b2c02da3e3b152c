#include "compile/worker_process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <thread>

#include "tilejit/cache/files.hpp"

extern char** environ;

namespace tilejit::compile {
namespace {

using namespace std::chrono_literals;
using Kind = WorkerFailure::Kind;

/// How long a worker may take to end after its socket is closed; then it is killed.
constexpr auto kGrace = 200ms;

struct Sockets {
  UniqueFd ours, theirs;
};

Sockets make_sockets() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw WorkerFailure(Kind::unusable,
                        std::string("cannot be given a socket: ") + std::strerror(errno));
  }
  Sockets sockets{UniqueFd(cache::above_stdio(ends[0])), UniqueFd(cache::above_stdio(ends[1]))};
  if (sockets.ours.get() >= 0 && sockets.theirs.get() >= 0) return sockets;
  throw WorkerFailure(Kind::unusable,
                      std::string("cannot be given a socket: ") + std::strerror(errno));
}

/// A worker gets its own process group, so that signals of a terminal go to the application only;
/// no file of the application except the socket, as standard input; and default signals.
class SpawnSettings {
 public:
  explicit SpawnSettings(int socket) {
    ::posix_spawnattr_init(&attributes_);
    sigset_t signals;
    ::sigemptyset(&signals);
    ::posix_spawnattr_setsigmask(&attributes_, &signals);
    ::sigfillset(&signals);
    ::posix_spawnattr_setsigdefault(&attributes_, &signals);
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    ::posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawn_file_actions_adddup2(&actions_, socket, STDIN_FILENO);
    ::posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions_, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1);
  }
  ~SpawnSettings() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  [[nodiscard]] const posix_spawnattr_t* attributes() const { return &attributes_; }
  [[nodiscard]] const posix_spawn_file_actions_t* actions() const { return &actions_; }

 private:
  posix_spawnattr_t attributes_;
  posix_spawn_file_actions_t actions_;
};

/// Resident memory of the process; 0 if it is unknown.
std::uint64_t resident_bytes(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/statm");
  std::uint64_t size = 0, resident = 0;
  file >> size >> resident;
  return file ? resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) : 0;
}

bool from_outside(int signal) noexcept {
  return signal == SIGKILL || signal == SIGTERM || signal == SIGINT || signal == SIGHUP ||
         signal == SIGQUIT;
}

std::string mebibytes(std::uint64_t bytes) {
  return std::to_string(bytes >> 20) + " MiB";
}

}  // namespace

WorkerProcess::WorkerProcess(const std::filesystem::path& program, const Hello& hello,
                             const WorkerLimits& limits, const std::atomic<bool>& stopped)
    : limits_(limits), stopped_(stopped), channel_(UniqueFd()) {
  Sockets sockets = make_sockets();
  spawn(program, sockets.theirs.get());
  sockets.theirs = UniqueFd();  // closed here, so that its closing at the other end is noticed
  channel_ = Channel(std::move(sockets.ours));
  try {
    greet(hello);
  } catch (...) {
    end();
    throw;
  }
}

WorkerProcess::~WorkerProcess() {
  end();
}

void WorkerProcess::spawn(const std::filesystem::path& program, int socket) {
  const SpawnSettings settings(socket);
  std::string name = "tilejit-worker";
  char* const arguments[] = {name.data(), nullptr};
  const int error = ::posix_spawn(&pid_, program.c_str(), settings.actions(), settings.attributes(),
                                  arguments, environ);
  if (error == 0) return;
  pid_ = -1;
  throw WorkerFailure(Kind::unusable,
                      program.string() + " cannot be started: " + std::strerror(error));
}

void WorkerProcess::greet(const Hello& hello) {
  const auto welcome = decode_welcome(exchange(encode(hello), limits_.start));
  if (!welcome) fail(Channel::Status::rubbish);
  const auto refuse = [&](const std::string& why) { fail_with(Kind::unusable, why); };
  if (!welcome->refusal.empty()) refuse("refused to work: " + welcome->refusal);
  if (welcome->protocol != hello.protocol || welcome->version != hello.version) {
    refuse("is of version " + welcome->version.substr(0, 40) + ", not " + hello.version);
  }
  if (welcome->build != hello.compiler.build) {
    refuse("found another compiler than this process at " + hello.compiler.path.string());
  }
}

Reply WorkerProcess::ask(const Request& request) {
  const Order order{.id = ++orders_, .request = request};
  auto reply = decode_reply(exchange(encode(order), limits_.time));
  if (!reply || reply->id != order.id) fail(Channel::Status::rubbish);
  return *std::move(reply);
}

std::string WorkerProcess::exchange(std::string_view body, std::chrono::milliseconds time) {
  const Patience patience{.until = Channel::Clock::now() + time,
                          .watch = [this] { return within_limits(); }};
  std::string answer;
  Channel::Status status = channel_.send(body, patience);
  if (status == Channel::Status::done) status = channel_.receive(answer, patience);
  if (status != Channel::Status::done) fail(status);
  return answer;
}

bool WorkerProcess::within_limits() {
  if (stopped_.load(std::memory_order_relaxed)) return false;
  out_of_memory_ = limits_.memory_bytes > 0 && resident_bytes(pid_) > limits_.memory_bytes;
  return !out_of_memory_;
}

void WorkerProcess::fail(Channel::Status status) {
  switch (status) {
    case Channel::Status::timed_out: fail_with(Kind::timed_out, "gave no answer in time");
    case Channel::Status::stopped:
      if (out_of_memory_) {
        fail_with(Kind::out_of_memory, "used more than " + mebibytes(limits_.memory_bytes));
      }
      fail_with(Kind::stopped, "was stopped");
    case Channel::Status::rubbish:
      fail_with(Kind::rubbish, "gave an answer that cannot be understood");
    case Channel::Status::done:
    case Channel::Status::closed: break;
  }
  const std::string how = ending();
  const bool outside = WIFSIGNALED(status_) && from_outside(WTERMSIG(status_)) && ended_by_itself_;
  fail_with(outside ? Kind::killed : Kind::crashed, how);
}

void WorkerProcess::fail_with(Kind kind, const std::string& what) {
  end();
  throw WorkerFailure(kind, "the worker process " + what);
}

/// How a worker that has closed its socket ended. Kills it if it does not end by itself.
std::string WorkerProcess::ending() {
  const auto until = Channel::Clock::now() + kGrace;
  while (alive() && Channel::Clock::now() < until) std::this_thread::sleep_for(1ms);
  end();
  if (!ended_by_itself_) return "closed its socket";
  if (WIFSIGNALED(status_)) return "was ended by signal " + std::to_string(WTERMSIG(status_));
  return "ended with status " + std::to_string(WEXITSTATUS(status_));
}

bool WorkerProcess::alive() {
  if (pid_ < 0) return false;
  const pid_t reaped = ::waitpid(pid_, &status_, WNOHANG);
  if (reaped == 0 || (reaped < 0 && errno == EINTR)) return true;
  // Otherwise it has ended, or other code in this process has reaped it.
  ended_by_itself_ = reaped == pid_;
  pid_ = -1;
  return false;
}

void WorkerProcess::kill() noexcept {
  if (alive()) ::kill(pid_, SIGKILL);  // otherwise the id may belong to another process by now
}

void WorkerProcess::end() noexcept {
  kill();
  if (pid_ < 0) return;
  while (::waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

}  // namespace tilejit::compile
