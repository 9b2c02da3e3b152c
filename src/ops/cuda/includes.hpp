#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tilejit::cuda {

/// An #include of a source.
struct Include {
  std::string name;
  bool quoted = true;  ///< "name"; otherwise <name>
  int line = 1;
  /// Inside #if, #ifdef or #ifndef: whether the compiler reads it is unknown here.
  bool conditional = false;
  bool operator==(const Include&) const = default;
};

/// The includes of `text` in order, without those in comments.
[[nodiscard]] std::vector<Include> find_includes(std::string_view text);

}  // namespace tilejit::cuda
