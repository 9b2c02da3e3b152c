#pragma once

#include <filesystem>

namespace CLI {
class App;
}

namespace tilejit::cli {

/// The subcommands of `tilejit layout` that are not operations.
void add_layout_show(CLI::App& layout);
void add_layout_tv(CLI::App& layout);

/// Answers one JSON object per line of a file ("-": standard input). Throws Failure, after the last
/// line, if any line could not be answered.
void answer_batch(const std::filesystem::path& path);
/// Throws UsageError if `tilejit layout --batch` was asked for: --batch takes no subcommand.
void check_no_batch(const CLI::App& layout);

}  // namespace tilejit::cli
