#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tilejit/operation.hpp"
#include "tilejit/target.hpp"

namespace tilejit {

/// A descriptor that was used, and the target that it was used for.
struct ManifestEntry {
  Operation op;
  Target target;
  /// Requests of all processes that recorded into the file; a killed process counts 1.
  std::uint64_t uses = 0;
};

/// What processes have recorded (Options::record; docs/deploying.md, "Manifests").
struct Manifest {
  std::vector<ManifestEntry> entries;  ///< each once, in the order of their first use
  std::vector<std::string> faults;     ///< lines that could not be read, and why
};

/// Reads a manifest's text. Checks only the structure of descriptors: whoever plans them checks the
/// rest. Leaves out a torn last line, which lacks its newline; `faults` has what is wrong with
/// other lines.
[[nodiscard]] Manifest parse_manifest(std::string_view text, const SpecOptions& options = {});
/// Reads a file. Throws Error{io} if it cannot be read, or exceeds 1 GiB.
[[nodiscard]] Manifest load_manifest(const std::filesystem::path& path,
                                     const SpecOptions& options = {});

/// The line of an entry, without a newline.
[[nodiscard]] std::string manifest_line(const Operation& op, const Target& target);
/// Whether a text is a manifest's rather than a spec file's.
[[nodiscard]] bool is_manifest(std::string_view text);

}  // namespace tilejit
