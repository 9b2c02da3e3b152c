#include <CLI/CLI.hpp>

#include "cache/cache_commands.hpp"
#include "common/command.hpp"

namespace tilejit::cli {

void add_cache(CLI::App& app) {
  CLI::App* command = app.add_subcommand("cache", "Look at the cache, tidy it, carry it elsewhere");
  command->require_subcommand(1);
  add_cache_state(*command);
  add_cache_entries(*command);
  add_cache_keys(*command);
  add_cache_care(*command);
  add_cache_bundles(*command);
  command->footer(
      "Examples:\n"
      "  tilejit cache ls\n"
      "  tilejit cache why examples/specs/vector_add.json\n"
      "  tilejit cache export kernels.tjb --target sm_90a\n"
      "  tilejit cache prune --max-size 1G --max-age 30d --yes");
}

}  // namespace tilejit::cli
