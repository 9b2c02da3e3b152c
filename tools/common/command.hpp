#pragma once

#include <stdexcept>
#include <string>

#include "tilejit/options.hpp"
#include "tilejit/target.hpp"

namespace CLI {
class App;
}

namespace tilejit::cli {

/// The exit code of the command. docs/command.md has the table.
enum ExitCode : int { kDone = 0, kFailed = 1, kBadUsage = 2 };

/// A mistake on the command line or in a file that it names: exit code 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A step that failed although the request was right, or a wrong result: exit code 1.
class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Each adds one subcommand to `app`; its callback throws Error, UsageError or Failure.
void add_run(CLI::App& app);
void add_render(CLI::App& app);
void add_compile(CLI::App& app);
void add_tune(CLI::App& app);
void add_warm(CLI::App& app);
void add_coverage(CLI::App& app);
void add_bench(CLI::App& app);
void add_explain(CLI::App& app);
void add_fmt(CLI::App& app);
void add_translate(CLI::App& app);
void add_doctor(CLI::App& app);
void add_cache(CLI::App& app);
void add_schema(CLI::App& app);
/// The commands help, completion and man.
void add_about_itself(CLI::App& app);
/// `with_operations`: also adds its operations. They are many, and only some command lines need
/// them.
void add_layout(CLI::App& app, bool with_operations);

/// The options that the environment sets; without the tuning file if `untuned`.
[[nodiscard]] Options options_from_env(bool untuned);

/// The target of device 0, or sm_90a if there is no driver or no device.
[[nodiscard]] Target default_target();

}  // namespace tilejit::cli
