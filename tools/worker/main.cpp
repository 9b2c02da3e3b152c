// tilejit-worker: compiles kernels for the process that started it.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string_view>

#include "compile/worker_loop.hpp"
#include "tilejit/version.hpp"

namespace {

constexpr const char* kHelp =
    "tilejit-worker compiles CUDA kernels for a process that uses libtilejit, which starts it and\n"
    "talks to it over its standard input, a socket. It is of no use on a command line.\n\n"
    "  --help     this text\n"
    "  --version  its version, which must be the library's\n\n"
    "The library looks for it beside the program that uses it and beside itself, unless\n"
    "TILEJIT_WORKER names it. TILEJIT_COMPILE_JOBS and TILEJIT_COMPILE_THREADS say how many there\n"
    "are: docs/compiling.md.\n";

bool is_socket(int file) {
  struct stat info;
  return ::fstat(file, &info) == 0 && S_ISSOCK(info.st_mode);
}

/// Lets the system kill a worker rather than the application if memory runs out.
void offer_to_the_oom_killer() {
  const int file = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  if (::write(file, "500", 3) < 0) {  // failure does no harm
  }
  ::close(file);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view argument = argc == 2 ? argv[1] : "";
  if (argument == "--help" || argument == "-h") return std::fputs(kHelp, stdout) < 0;
  if (argument == "--version") {
    const std::string_view version = tilejit::version();
    return std::printf("tilejit-worker %.*s\n", static_cast<int>(version.size()), version.data()) <
           0;
  }
  if (argc != 1 || !is_socket(STDIN_FILENO)) {
    std::fputs("tilejit-worker: it is started by a program that uses libtilejit (--help)\n",
               stderr);
    return 2;
  }
  const rlimit none{.rlim_cur = 0, .rlim_max = 0};
  ::setrlimit(RLIMIT_CORE, &none);  // no core file after a crash
  offer_to_the_oom_killer();
  return tilejit::compile::serve(STDIN_FILENO, tilejit::compile::open_nvrtc);
}
