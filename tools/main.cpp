#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/command.hpp"
#include "common/interrupt.hpp"
#include "common/sentence.hpp"
#include "common/suggestion.hpp"
#include "tilejit/error.hpp"
#include "tilejit/printable.hpp"
#include "tilejit/version.hpp"

namespace tilejit::cli {
namespace {

constexpr std::size_t kLongestMistake = 400;  // bytes of a command line that a message repeats

int report(int code, const std::string& message) {
  std::fflush(stdout);
  std::fprintf(stderr, "tilejit: %s\n", printable(message, Lines::several).c_str());
  return code;
}

// Where standard streams are closed, as daemons start commands, the next file that is opened would
// get their numbers, and what is printed would land in it.
void fill_standard_streams() {
  int fd = 0;
  do {
    fd = ::open("/dev/null", O_RDWR);
  } while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd >= 0) ::close(fd);
}

// A wrong spec, argument or target is the caller's to mend; the rest is a step that failed.
int exit_code(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::invalid_spec:
    case ErrorCode::invalid_layout:
    case ErrorCode::invalid_formula:
    case ErrorCode::invalid_argument:
    case ErrorCode::unsupported: return kBadUsage;
    default: return kFailed;
  }
}

void log_to_stderr() {
  auto sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  auto logger = std::make_shared<spdlog::logger>("tilejit", std::move(sink));
  logger->set_pattern("tilejit: %l: %v");
  logger->set_level(spdlog::level::warn);
  spdlog::drop("tilejit");
  spdlog::register_logger(std::move(logger));
}

void add_commands(CLI::App& app, std::span<char* const> arguments) {
  app.require_subcommand(1);
  app.set_version_flag("--version", "tilejit " + std::string(version()));
  app.footer(
      "Examples:\n"
      "  tilejit doctor\n"
      "  tilejit run examples/specs/vector_add.json\n"
      "  tilejit render examples/specs/vector_add.json --target sm_80\n"
      "  tilejit compile examples/specs/vector_add.json -o add.cubin\n"
      "  tilejit layout composition '(6,2):(8,2)' '(4,3):(3,1)'\n\n"
      "Exit codes: 0 done, 1 failed or wrong result, 2 bad usage or spec.");
  add_run(app);
  add_render(app);
  add_compile(app);
  add_tune(app);
  add_warm(app);
  add_coverage(app);
  add_bench(app);
  add_explain(app);
  add_doctor(app);
  add_cache(app);
  add_schema(app);
  const auto is_layout = [](const char* argument) {
    return std::string_view(argument) == "layout";
  };
  add_layout(app, std::ranges::any_of(arguments, is_layout));
}

// CLI11 would only say that a subcommand is missing, or an argument not expected.
void check_command(const CLI::App& app, std::span<char* const> arguments, const std::string& path) {
  const std::string name = arguments.empty() ? "" : arguments.front();
  if (name.empty() || name.front() == '-') return;
  std::vector<std::string> commands;
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    if (command->get_name() == name) {
      return check_command(*command, arguments.subspan(1), path + ' ' + name);
    }
    commands.push_back(command->get_name());
  }
  if (commands.empty()) return;
  const std::string nearest = suggestion(name, commands);
  throw UsageError(fmt::format("there is no command '{}'{} {} --help lists them",
                               name.substr(0, 64), nearest.empty() ? ";" : nearest, path));
}

int run(int argc, char** argv) {
  CLI::App app{"Makes GPU kernels from a formula over tensors, at run time.", "tilejit"};
  const std::span<char* const> arguments(argv + 1, argv + argc);
  add_commands(app, arguments);
  try {
    log_to_stderr();
    check_command(app, arguments, "tilejit");
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {  // --help, --version
    app.exit(success);
  } catch (const CLI::ParseError& error) {
    return report(kBadUsage, std::string(error.what()).substr(0, kLongestMistake) +
                                 " (tilejit --help shows the usage)");
  } catch (const UsageError& error) {
    return report(kBadUsage, error.what());
  } catch (const Interrupted& stop) {
    report(kFailed, stop.what());
    std::raise(stop.signal());
  } catch (const Error& error) {
    const std::string log = error.log().empty() ? "" : "\n" + error.log();
    return report(exit_code(error.code()), sentence(error) + log);
  } catch (const std::bad_alloc&) {
    return report(kFailed, "out of memory");
  } catch (const std::exception& error) {
    return report(kFailed, error.what());
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    return report(kFailed, "could not write to standard output");
  }
  return kDone;
}

}  // namespace
}  // namespace tilejit::cli

int main(int argc, char** argv) {
  // A write beyond RLIMIT_FSIZE then fails, which is reported and cleaned up after; the signal
  // would end the process with a temporary file left behind.
  std::signal(SIGXFSZ, SIG_IGN);
  tilejit::cli::fill_standard_streams();
  return tilejit::cli::run(argc, argv);
}
