#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>

#include "help/usage.hpp"

namespace tilejit::cli {

/// What --help prints, in lines of up to `width` columns where words allow it.
[[nodiscard]] std::string help_text(const CommandUsage& command, std::size_t width);

/// Makes CLI11 print it.
class HelpFormatter : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;
};

}  // namespace tilejit::cli
