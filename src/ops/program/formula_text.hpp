#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "expr/lexer.hpp"

// The text of a formula as expressions over tiles: what it says of the iteration space is said of a
// tile of it.

namespace tilejit::program {

/// One axis of the iteration space, in texts of a program.
struct SpaceAxis {
  std::string extent;  ///< "N"
  std::string tile;    ///< extent of the tile, in elements
  std::string origin;  ///< first coordinate of the tile: "j * TN", or "0"
};

/// What rewriting needs to know of the space, and of the names in a formula.
struct SpaceText {
  std::vector<SpaceAxis> axes;
  std::string zero;           ///< the name of a tile of zeros of i64, as large as all tiles
  bool is_ragged = false;     ///< tiles may reach beyond the last axis, where they have zeros
  bool has_integers = false;  ///< not all values are floating
  std::set<std::string, std::less<>> varying = {};  ///< names that vary along the last axis
};

/// `name = value` of a formula.
struct FormulaLine {
  std::string name;
  std::string value;  ///< over tiles
  std::string text;   ///< of the line as written, on one line
};

struct RewrittenFormula {
  std::vector<FormulaLine> lines;
  bool uses_zero = false;
};

/// Splits and rewrites a formula that has been checked. Reductions stay reductions, along the last
/// axis. Adds temporaries to `space.varying`. Throws Error{unsupported} for scans, reductions along
/// other axes, and integers that would be compared beyond the end of a ragged axis.
[[nodiscard]] RewrittenFormula rewritten(std::string_view formula, SpaceText& space);

/// Whether the text calls a reduction, or a function whose meaning depends on the space.
[[nodiscard]] bool depends_on_space(std::string_view expression);
/// Whether the formula calls a reduction.
[[nodiscard]] bool calls_reduction(std::string_view formula);

}  // namespace tilejit::program
