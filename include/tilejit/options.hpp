#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>

namespace tilejit {

/// Settings of a Compiler or Runtime. docs/environment.md has the table of variables.
struct Options {
  /// Folder of the disk cache. Empty optional: memory only.
  std::optional<std::filesystem::path> cache_folder = {};
  /// Bound of the cache's memory tier, in bytes.
  std::size_t cache_memory_bytes = 256u << 20;
  /// File of tuned knobs that compiles consult (docs/planning.md, "Tuning files"); one that does
  /// not exist is empty, one that is damaged is warned of once and left alone. Empty optional:
  /// none.
  std::optional<std::filesystem::path> tuning_file = {};
  /// NVRTC's library file or its folder; empty: searched for.
  std::filesystem::path nvrtc_path = {};
  /// Device ordinal of a Runtime.
  int device = 0;

  /// Reads TILEJIT_CACHE_DIR (else XDG_CACHE_HOME/tilejit, else HOME/.cache/tilejit; "off" means
  /// memory only), TILEJIT_TUNING (else tuning.jsonl in the cache folder; "off" means none),
  /// TILEJIT_NVRTC and TILEJIT_DEVICE. This is the only place where the library reads
  /// its environment. Throws Error{invalid_argument} if TILEJIT_DEVICE is not a number.
  [[nodiscard]] static Options from_env();
};

}  // namespace tilejit
