#pragma once

#include <optional>
#include <string>

#include "cuda/toolkit.hpp"
#include "tilejit/cuda_kernel.hpp"

namespace tilejit::cuda {

/// A kernel with all its texts: `text` is not empty, `source` is a file's name without folders,
/// `headers` has every file that is included, and `include_dirs` is empty.
struct Resolved : CudaKernel {
  std::optional<Toolkit> toolkit = {};  ///< if the source includes headers of it
  std::string digest = {};              ///< SHA-256 (hex) of the texts and their names
  bool operator==(const Resolved&) const = default;
};

/// Reads the files of `kernel`. Throws as CudaKernel's conversion.
[[nodiscard]] Resolved resolve(CudaKernel kernel);

}  // namespace tilejit::cuda
