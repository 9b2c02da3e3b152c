#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tilejit::cuda {

/// The headers of a CUDA toolkit, or of its packages for Python.
struct Toolkit {
  std::vector<std::string> folders;  ///< to look in, in this order
  std::string version;               ///< CUDA_VERSION of its cuda.h: "13000"
  bool operator==(const Toolkit&) const = default;
};

/// The toolkit of this machine: CUDA_HOME, CUDA_PATH, /usr/local/cuda*, Python's packages. Toolkits
/// do not count with TILEJIT_NO_TOOLKIT=1.
[[nodiscard]] std::optional<Toolkit> find_toolkit();
/// Whether `toolkit` has the header.
[[nodiscard]] bool has_header(const Toolkit& toolkit, std::string_view name);

}  // namespace tilejit::cuda
