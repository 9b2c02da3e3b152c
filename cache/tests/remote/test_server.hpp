#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

extern char** environ;

namespace tilejit::cache {

/// One of this folder's servers, *_server.py. It ends with this object or with this process,
/// however the process ends.
class TestServer {
 public:
  /// Not running (see `port`) if the script did not report its port within 20 s.
  TestServer(const std::string& script, const std::vector<std::string>& arguments) {
    std::vector<std::string> words = {TILEJIT_TEST_PYTHON, TILEJIT_REMOTE_TESTS "/" + script};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    int in[2], out[2];
    if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) std::abort();
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_adddup2(&files, in[0], 0);
    ::posix_spawn_file_actions_adddup2(&files, out[1], 1);
    if (::posix_spawn(&process_, argv[0], &files, nullptr, argv.data(), environ) != 0) process_ = 0;
    ::posix_spawn_file_actions_destroy(&files);
    ::close(in[0]);
    ::close(out[1]);
    stdin_ = in[1];
    stdout_ = out[0];
    read_port();
  }
  ~TestServer() {
    ::close(stdin_);
    ::close(stdout_);
    if (process_ > 0) ::waitpid(process_, nullptr, 0);
  }
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  /// 0: the server is not running.
  [[nodiscard]] int port() const { return port_; }
  /// "http://127.0.0.1:<port>" and `path`.
  [[nodiscard]] std::string url(const std::string& path = "") const {
    return "http://127.0.0.1:" + std::to_string(port_) + path;
  }

 private:
  void read_port() {
    std::string text;
    pollfd ready{.fd = stdout_, .events = POLLIN, .revents = 0};
    char c = 0;
    while (::poll(&ready, 1, 20000) == 1 && ::read(stdout_, &c, 1) == 1 && c != '\n') text += c;
    const std::string words = "listening on ";
    if (text.starts_with(words)) port_ = std::atoi(text.c_str() + words.size());
  }

  pid_t process_ = 0;
  int stdin_ = -1, stdout_ = -1;
  int port_ = 0;
};

}  // namespace tilejit::cache
