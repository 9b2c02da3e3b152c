#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tilejit/number.hpp"
#include "tilejit/operation.hpp"
#include "tilejit/swizzle.hpp"

namespace tilejit {

/// A name that the source of a CudaKernel finds in plan.cuh: a bool, an `int` (`long long` if it
/// needs more than 32 bits), a `float`, a type, or a layout: a type whose values are called with
/// coordinates and return an index, `A{}(i, j)`.
struct CudaConstant {
  using Value = std::variant<bool, Number, DType, ComposedLayout>;
  std::string name;
  Value value = Number(0);
  bool operator==(const CudaConstant&) const = default;
};

/// The values that tuning tries for a constant.
struct CudaTune {
  std::string name;
  std::vector<CudaConstant::Value> values = {};
  bool operator==(const CudaTune&) const = default;
};

/// How many blocks and threads are launched: expressions of integers, constants and symbols with
/// + - * // %, ceil_div, min and max. They are evaluated at each launch.
struct CudaLaunch {
  std::vector<std::string> grid = {"1"};     ///< blocks along x, y, z: one to three
  std::vector<std::string> block = {"256"};  ///< threads along x, y, z: one to three
  std::string cluster = "1";  ///< blocks of a cluster along x, without symbols: 1 to 8
  std::string shared = "0";   ///< bytes per block, beyond what the kernel declares
  bool operator==(const CudaLaunch&) const = default;
};

/// How the entry point takes its arguments.
enum class CudaArguments : std::uint8_t {
  params,  ///< one `const __grid_constant__ Params`, whose fields have the names of the tensors,
           ///< scalars and symbols
  positional,  ///< tensors, scalars, then `symbols`, in the order of declaration
};

/// What the outputs are compared with, by `verify` and `tilejit run --verify`.
struct CudaReference {
  /// A formula over the same tensors and scalars. Only its members `functions`, `formula` and
  /// `axis` are used.
  struct Formula {
    std::vector<Function> functions = {};
    std::string formula = {};
    std::vector<int> axis = {};
    bool operator==(const Formula&) const = default;
  };
  /// A NumPy file for each output.
  struct Arrays {
    std::vector<std::pair<std::string, std::filesystem::path>> files = {};
    bool operator==(const Arrays&) const = default;
  };
  /// Or another operation over the same tensors and scalars, which runs on the device.
  std::variant<Formula, Arrays, Operation> source = Formula{};
  /// Largest difference from the value of an array or of another kernel: absolute + relative *
  /// |value|. Integers must be equal. A formula has bounds of its own.
  double relative = 0, absolute = 0;
  bool operator==(const CudaReference&) const = default;
};

/// A kernel of the caller's own, in CUDA C++: compiled, cached, bound, launched, tuned and checked
/// as any other operation (docs/cuda-kernels.md). A value, which converts to an Operation.
struct CudaKernel {
  std::string name = "cuda";         ///< an identifier
  std::vector<Symbol> symbols = {};  ///< facts about symbols of layouts
  /// Launch arguments, first the tensors. A tensor without `access` is an input, or an output if it
  /// is `zeroed`.
  std::vector<Tensor> tensors = {};
  std::vector<Scalar> scalars = {};  ///< launch arguments, after the tensors
  /// The file with the source, read when this value is converted. If `text` is not empty, only a
  /// name for messages.
  std::filesystem::path source = {};
  std::string text = {};   ///< the source itself: at most 512 KiB
  std::string entry = {};  ///< the kernel, declared `extern "C" __global__`; empty: `name`
  std::vector<CudaConstant> constants = {};
  std::vector<std::string> zeroed = {};  ///< tensors that each launch sets to 0 first
  CudaLaunch launch = {};
  /// Of -DNAME, -DNAME=VALUE, --use_fast_math and --maxrregcount=N.
  std::vector<std::string> options = {};
  /// Texts that an #include finds by its name, before any file.
  std::vector<std::pair<std::string, std::string>> headers = {};
  /// Folders in which an #include is looked up after the folder of the file that includes it. The
  /// files are read when this value is converted.
  std::vector<std::filesystem::path> include_dirs = {};
  CudaArguments args = CudaArguments::params;
  std::optional<CudaReference> reference = {};
  std::vector<CudaTune> tune = {};
  Tuning tuning = {};  ///< only `constants`
  bool operator==(const CudaKernel&) const = default;

  /// Reads the source and everything that it includes. Throws Error{io} for a file that cannot be
  /// read, Error{invalid_spec} for a cycle of includes and what else `validate` would refuse there.
  operator Operation() const;  // NOLINT(google-explicit-constructor): doors take any operation
};

/// The kernel's descriptor, self-contained: with the text of its source and of every file that it
/// includes, except those of a CUDA toolkit. Null for other operations. Lives as long as `op`.
[[nodiscard]] const CudaKernel* cuda_kernel(const Operation& op) noexcept;

}  // namespace tilejit
