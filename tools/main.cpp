#include <fcntl.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <initializer_list>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>

#include "common/command.hpp"
#include "common/interrupt.hpp"
#include "common/mistake.hpp"
#include "common/sentence.hpp"
#include "common/terminal.hpp"
#include "help/help_text.hpp"
#include "tilejit/error.hpp"
#include "tilejit/printable.hpp"
#include "tilejit/version.hpp"

namespace tilejit::cli {
namespace {

constexpr std::size_t kLongestMistake = 600;  // bytes of a command line that a message repeats

int report(int code, const std::string& message) {
  std::fflush(stdout);
  const std::string name = inked(Ink::red, "tilejit:", stderr);
  std::fprintf(stderr, "%s %s\n", name.c_str(), printable(message, Lines::several).c_str());
  return code;
}

// If a standard stream is closed, as it is when a daemon starts the command, the next file that is
// opened would get its number, and printed text would land in that file.
void fill_standard_streams() {
  int fd = 0;
  do {
    fd = ::open("/dev/null", O_RDWR);
  } while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd >= 0) ::close(fd);
}

// A wrong spec, argument or target is the caller's to correct; all else is a step that failed.
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

void add_group(CLI::App& app, const char* group,
               std::initializer_list<void (*)(CLI::App&)> functions) {
  const std::size_t before = app.get_subcommands(nullptr).size();
  for (const auto add : functions) add(app);
  const auto commands = app.get_subcommands(nullptr);
  for (std::size_t i = before; i < commands.size(); ++i) commands[i]->group(group);
}

// Adds `layout`. Its operations are many, and only some command lines need them.
void add_layout_with(CLI::App& app) {
  add_layout(app, true);
}
void add_layout_without(CLI::App& app) {
  add_layout(app, false);
}

bool needs_operations(std::string_view word) {
  return word == "layout" || word == "help" || word == "man" || word == "completion";
}

void add_commands(CLI::App& app, std::span<char* const> arguments) {
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_help_flag("-h,--help", "Print this help");
  app.require_subcommand(1);
  app.set_version_flag("--version", "tilejit " + std::string(version()), "Print the version");
  app.footer(
      "Examples:\n"
      "  tilejit doctor\n"
      "  tilejit run examples/specs/vector_add.json\n"
      "  tilejit render examples/specs/vector_add.json --target sm_80\n"
      "  tilejit compile examples/specs/vector_add.json -o add.cubin\n"
      "  tilejit layout composition '(6,2):(8,2)' '(4,3):(3,1)'\n\n"
      "Exit codes: 0 done, 1 failed or wrong result, 2 bad usage or spec.");
  const bool operations = std::ranges::any_of(arguments, needs_operations);
  add_group(app, "Everyday",
            {add_run, add_compile, add_tune, add_bench,
             operations ? add_layout_with : add_layout_without});
  add_group(app, "Deploy", {add_warm, add_coverage, add_cache});
  add_group(app, "Inspect",
            {add_render, add_explain, add_fmt, add_translate, add_doctor, add_schema});
  add_group(app, "This command", {add_about_itself});
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
    return report(kBadUsage, mistake_of(app, error).substr(0, kLongestMistake));
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
  // A write beyond RLIMIT_FSIZE then fails; the failure is reported and cleaned up. The signal
  // would end the process and leave a temporary file.
  std::signal(SIGXFSZ, SIG_IGN);
  tilejit::cli::fill_standard_streams();
  return tilejit::cli::run(argc, argv);
}
