#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tilejit/error.hpp"
#include "tilejit/fused.hpp"
#include "tilejit/tensor.hpp"
#include "tilejit/tuning.hpp"

namespace tilejit {

namespace operation {
class Descriptor;
}

/// What can be compiled, whichever operation it is: a Fused, a CudaKernel or a TileProgram, which
/// convert to it. A value: copies share one descriptor, which never changes and which is checked
/// once. Const member functions are thread-safe.
class Operation {
 public:
  Operation(Fused op);  // NOLINT(google-explicit-constructor): doors take any operation
  /// For the library's own rooms. `descriptor` is not null.
  explicit Operation(std::shared_ptr<const operation::Descriptor> descriptor) noexcept;

  [[nodiscard]] const std::string& name() const noexcept;
  [[nodiscard]] const std::vector<Symbol>& symbols() const noexcept;
  [[nodiscard]] const std::vector<Tensor>& tensors() const noexcept;
  [[nodiscard]] const std::vector<Scalar>& scalars() const noexcept;
  [[nodiscard]] const Tuning& tuning() const noexcept;
  /// The same operation with other knobs.
  [[nodiscard]] Operation with_tuning(Tuning tuning) const;
  /// The same operation over other tensors: as many, in the same order.
  [[nodiscard]] Operation with_tensors(std::vector<Symbol> symbols,
                                       std::vector<Tensor> tensors) const;

  /// The descriptor of a fused operation; null of any other. Lives as long as this value.
  [[nodiscard]] const Fused* fused() const noexcept;
  [[nodiscard]] const operation::Descriptor& descriptor() const noexcept { return *descriptor_; }

  [[nodiscard]] bool operator==(const Operation& other) const;

 private:
  std::shared_ptr<const operation::Descriptor> descriptor_;
};

/// Checks everything that can be checked without values: names, dtypes, shapes, broadcasting, types
/// of the formula. Throws Error (invalid_spec, invalid_layout, invalid_formula or unsupported) that
/// lists every fault found, with a JSON pointer for the first.
void validate(const Operation& op);

/// How `op` uses each tensor, in the order of declaration: in, out or inout, never automatic.
/// Throws as `validate` does.
[[nodiscard]] std::vector<Access> resolve_access(const Operation& op);

/// How the JSON of descriptors is read.
struct SpecOptions {
  /// Whether descriptors may hold or name CUDA source (CudaKernel), which is compiled and run as it
  /// is. Only for JSON whose author may run code here. Otherwise such a descriptor is an
  /// Error{unsupported}, and no file that it names is read.
  bool allow_source = false;
  /// What paths in descriptors are relative to; empty: the working directory.
  std::filesystem::path folder = {};
};

/// Reads one descriptor from JSON text (schema: docs/spec.schema.json), or from the TL text of a
/// program (docs/tile-programs.md). Throws as `validate` does.
[[nodiscard]] Operation parse_operation(std::string_view json, const SpecOptions& options = {});
/// Reads a spec file's text: one descriptor as JSON or TL text, or {"kernels": [...]}, sweeps
/// expanded (docs/spec.md). At least one, names distinct. Throws as `validate` does; with `faults`,
/// where every descriptor that is wrong adds its Error and is left out, only for text that is no
/// such file.
[[nodiscard]] std::vector<Operation> parse_specs(std::string_view json,
                                                 std::vector<Error>* faults = nullptr,
                                                 const SpecOptions& options = {});
/// JSON that `parse_operation` reads back to an equal value; two spaces of indent. Throws
/// Error{invalid_spec} if a text of `op` is not UTF-8.
[[nodiscard]] std::string to_json(const Operation& op);
/// The JSON Schema of spec files, as checked in at docs/spec.schema.json.
[[nodiscard]] std::string_view spec_schema() noexcept;

}  // namespace tilejit
