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

/// A field that two keys do not have in common: its path, and the values, "(none)" where
/// there is none.
struct KeyDifference {
  std::string field, wanted, other;
};

/// Where the fields of two keys (KeyExplanation::fields) differ, in the order of the paths. Pure.
[[nodiscard]] std::vector<KeyDifference> key_differences(std::string_view wanted,
                                                         std::string_view other);

/// The entry of a cache whose key has the fewest fields other than a wanted one.
struct NearestEntry {
  std::string key;   ///< 64 hex digits
  std::string name;  ///< "tilejit_add_f32 for sm_80 in <folder>", for people
  std::vector<KeyDifference> differences;
};

/// Looks through the compiler's cache folder, and the folders and bundles that it only reads; not
/// in memory, and not on a server. Reads the metadata of every entry. Nothing if there is no entry.
/// Places that cannot be used are left out, as the compiler leaves them out.
[[nodiscard]] std::optional<NearestEntry> nearest_entry(const Compiler& compiler,
                                                        const KeyExplanation& wanted);

}  // namespace tilejit
