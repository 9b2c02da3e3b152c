#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tilejit::operation {

/// CUDA source: the text of the kernel's file and of each header that it may include.
struct Source {
  std::string name;  ///< of the file: "tilejit_add_f16.cu"
  std::string text;
  std::vector<std::pair<std::string, std::string>> headers;  ///< include name, text
  /// Written by the caller: line numbers shall refer to the caller's files.
  bool own = false;
  bool operator==(const Source&) const = default;
};

/// `source` as one file: the first include of each of its headers is replaced by the header's text,
/// later ones by nothing.
[[nodiscard]] std::string flatten(const Source& source);

}  // namespace tilejit::operation
