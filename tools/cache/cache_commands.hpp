#pragma once

namespace CLI {
class App;
}

namespace tilejit::cli {

// Each adds subcommands of `tilejit cache`.
void add_cache_entries(CLI::App& app);  // ls, show
void add_cache_keys(CLI::App& app);     // explain, why
void add_cache_care(CLI::App& app);     // verify, prune, clear
void add_cache_bundles(CLI::App& app);  // export, import
void add_cache_state(CLI::App& app);    // path, stat, doctor

}  // namespace tilejit::cli
