#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>

#include "help/usage.hpp"

namespace tilejit::cli {

/// The text that --help prints, in lines of up to `width` columns if words allow it.
[[nodiscard]] std::string help_text(const CommandUsage& command, std::size_t width);

/// Makes CLI11 print help_text.
class HelpFormatter : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;
};

}  // namespace tilejit::cli
