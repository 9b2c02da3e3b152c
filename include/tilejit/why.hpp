#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tilejit/compiler.hpp"

namespace tilejit {

/// The values in a JSON document by their paths, "plan.operands[0].dtype". A text that is no JSON
/// object, or nests deeper than 64, has none. Pure.
[[nodiscard]] std::map<std::string, std::string> key_fields(std::string_view document);

/// A field in which two keys differ: its path, and the values, "(none)" for an absent one.
struct KeyDifference {
  std::string field, wanted, other;
};

/// Where the fields of two keys (KeyExplanation::fields) differ, in the order of the paths. Pure.
[[nodiscard]] std::vector<KeyDifference> key_differences(std::string_view wanted,
                                                         std::string_view other);

/// The entry of a cache whose key differs from a wanted one in the fewest fields.
struct NearestEntry {
  std::string key;   ///< 64 hex digits
  std::string name;  ///< "tilejit_add_f32 for sm_80 in <folder>", for people
  std::vector<KeyDifference> differences;
};

/// Looks through the compiler's cache folder, and its read-only folders and bundles; not in memory,
/// and not on a server. Reads the metadata of every entry. Empty if there is no entry. Skips
/// unusable places, as the compiler does.
[[nodiscard]] std::optional<NearestEntry> nearest_entry(const Compiler& compiler,
                                                        const KeyExplanation& wanted);

}  // namespace tilejit
