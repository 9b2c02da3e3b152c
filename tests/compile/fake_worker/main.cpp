// A worker that behaves as it is told: before its Welcome by TILEJIT_FAKE_WELCOME, then by the
// first word of each order's source. It "compiles" any other word to an ELF magic and the source's
// name.
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "compile/channel.hpp"
#include "compile/message.hpp"
#include "tilejit/version.hpp"

namespace {

using namespace tilejit::compile;

const std::string kCubin =
    "\x7f"
    "ELF";

[[noreturn]] void hang() {
  for (;;) ::pause();
}

int open_files() {
  int files = -1;  // the folder's own
  DIR* folder = ::opendir("/proc/self/fd");
  while (const dirent* entry = ::readdir(folder)) files += entry->d_name[0] != '.' ? 1 : 0;
  ::closedir(folder);
  return files;
}

Compiled compiled(const std::string& text) {
  Compiled result;
  result.cubin = kCubin + text;
  result.compiler_version = "0.0";
  result.milliseconds = 1;
  return result;
}

/// True at the first call, which a file records.
bool first_time(const std::string& file) {
  const int fd = ::open(file.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  if (fd >= 0) ::close(fd);
  return fd >= 0;
}

void occupy(std::size_t mebibytes) {
  static std::vector<char> memory;
  memory.assign(mebibytes << 20, 1);
}

void send_raw(int socket, const std::string& bytes) {
  if (::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0) ::_exit(1);
}

Reply obey(const Order& order, int socket) {
  Reply reply{.id = order.id, .compiled = compiled(order.request.source.name)};
  std::istringstream text(order.request.source.text);
  std::string command, argument;
  text >> command >> argument;
  if (command == "crash" && (argument.empty() || first_time(argument))) {
    ::signal(SIGSEGV, SIG_DFL);  // not a sanitizer's
    ::raise(SIGSEGV);
  }
  if (command == "exit") ::_exit(3);
  if (command == "hang") hang();
  if (command == "close") {
    ::close(socket);
    hang();
  }
  if (command == "sleep") std::this_thread::sleep_for(std::chrono::milliseconds(stoi(argument)));
  if (command == "memory") {
    occupy(std::stoul(argument));
    hang();
  }
  if (command == "rubbish") send_raw(socket, "Segmentation fault (core dumped)\n");
  if (command == "huge") send_raw(socket, "TJWK\xff\xff\xff\xff");
  if (command == "half") {
    send_raw(socket, frame_header(1000) + "the first bytes");
    ::_exit(0);
  }
  if (command == "empty") send_raw(socket, frame_header(1) + std::string(1, '\4'));
  if (command == "other") reply.id += 1;
  if (command == "text") reply.compiled.cubin = "not a cubin";
  if (command == "files") reply.compiled = compiled(std::to_string(open_files()));
  if (command == "refuse") {
    reply.refusal = Refusal{.code = tilejit::ErrorCode::compile_failed,
                            .what = "no such thing",
                            .where = "k.cu",
                            .log = "line 1: no such thing"};
  }
  return reply;
}

Welcome welcome_for(const Hello& hello, const std::string& mode, int socket) {
  Welcome welcome{.version = std::string(tilejit::version()),
                  .build = hello.compiler.build,
                  .compiler_version = "0.0"};
  if (mode == "version") welcome.version = "0.0.0";
  if (mode == "protocol") welcome.protocol += 1;
  if (mode == "build") welcome.build = "another";
  if (mode == "refuse") welcome.refusal = "there is no compiler";
  if (mode == "rubbish") send_raw(socket, "what do you want?");
  if (mode == "die") ::_exit(7);
  if (mode == "hang") hang();
  return welcome;
}

}  // namespace

int main() {
  Channel channel{UniqueFd(STDIN_FILENO)};
  std::string body;
  if (channel.receive(body) != Channel::Status::done) return 1;
  const char* mode = std::getenv("TILEJIT_FAKE_WELCOME");
  const auto hello = decode_hello(body);
  if (!hello) return 1;
  const Welcome welcome = welcome_for(*hello, mode != nullptr ? mode : "", channel.fd());
  if (channel.send(encode(welcome)) != Channel::Status::done) return 1;
  while (channel.receive(body) == Channel::Status::done) {
    const auto order = decode_order(body);
    if (!order || channel.send(encode(obey(*order, channel.fd()))) != Channel::Status::done) {
      return 1;
    }
  }
  return 0;
}
