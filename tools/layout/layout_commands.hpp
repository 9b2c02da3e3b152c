#pragma once

#include <filesystem>

namespace CLI {
class App;
}

namespace tilejit::cli {

/// The subcommands of `tilejit layout` that are no operation.
void add_layout_show(CLI::App& layout);
void add_layout_tv(CLI::App& layout);

/// Answers one JSON object a line, from a file or "-". Throws Failure, after the last line, if a
/// line had no answer.
void answer_batch(const std::filesystem::path& path);
/// Throws UsageError if `tilejit layout --batch` was asked for, with which no subcommand goes.
void check_no_batch(const CLI::App& layout);

}  // namespace tilejit::cli
