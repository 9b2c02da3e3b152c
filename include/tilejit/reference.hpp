#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tilejit/operation.hpp"

namespace tilejit {

/// The CPU reference: every formula in double precision, integers exactly, over the same layouts.
/// It is the oracle of tests and of `tilejit run --verify`, and the executor if there is no GPU.

/// Exact value of one stored element, as double (b8 and integers up to 2^53 exactly). NaN is quiet.
[[nodiscard]] double decode(DType dtype, const void* element) noexcept;
/// Rounds and stores as casts do: to nearest even, tf32 with ties away from zero; f8 saturate,
/// infinities too. Integers truncate and saturate at 32 and 64 bits, narrower ones wrap from i32;
/// NaN gives 0.
void encode(DType dtype, double value, void* element) noexcept;

/// Host memory of the operation's tensors and scalars, in the order of the descriptor.
struct HostArguments {
  std::vector<void*> tensors = {};   ///< base address of each, with cosize elements
  std::vector<Number> scalars = {};  ///< value of each, one that its dtype takes (`fits`)
  SymbolValues symbols = {};         ///< value of every symbol
};

/// Runs the operation into the output tensors, on all hardware threads. f32 and narrower types are
/// computed in double, within the range of f32. In-place tensors are read before they are written.
/// Throws what `validate` throws, and Error{invalid_argument} if a symbol or argument is missing or
/// a scalar's dtype does not take its value.
void evaluate(const Operation& op, const HostArguments& args);

/// Expected results that the CPU does not compute, as the operation's author names them.
struct ExpectedResults {
  std::vector<std::pair<std::string, std::filesystem::path>> files = {};  ///< an array per output
  std::optional<Operation> by = {};  ///< or what computes them on the device, over the same tensors
  /// A difference is at most absolute + relative * |expected|; integers are equal.
  double relative = 0, absolute = 0;
};
/// The expected results of `op` if `verify` cannot compute them: of a CudaKernel whose reference is
/// no formula.
[[nodiscard]] std::optional<ExpectedResults> expected_results(const Operation& op);
/// Whether `verify` and `evaluate` can compute what `op` computes: always, but for a CudaKernel
/// without a formula.
[[nodiscard]] bool has_reference(const Operation& op);

/// The outcome of a comparison. `passed` needs every element within its own bound.
struct Verification {
  bool passed = false;
  std::int64_t elements = 0;    ///< compared, over all outputs
  std::int64_t mismatches = 0;  ///< outside their bound (a NaN where the reference has none counts)
  double max_error = 0;         ///< largest absolute difference
  double max_ratio = 0;         ///< largest difference over its bound; <= 1 passes
  std::string first_mismatch;   ///< "y(3,17): got 2.5, want 2.0 +- 0.001"; empty if passed
};

/// Matrices of f64, `batches` of each, all row-major: `left` has m rows of k elements, `right` n
/// rows of k, and `sums`, to be written, m rows of n. k is even.
struct RealMatrices {
  std::span<const double> left, right;
  std::span<double> sums;
  std::int64_t batches = 1, m = 0, n = 0, k = 0;
};
/// sums(b,m,n) = the sum over k of left(b,m,k) * right(b,n,k), in f64 and any order.
using MultiplyReals = std::function<void(const RealMatrices&)>;

/// How `verify` computes what takes the CPU long.
struct VerifyOptions {
  /// Multiplies for products of more than 2^26 products of elements, of which all elements are then
  /// compared. `verify` checks the sums of all rows, with random signs, and an element of each.
  MultiplyReals multiply = {};
};

/// Compares `actual` outputs with the reference on the same inputs. The bound of each element
/// follows from a running error analysis of the formula (Higham, Accuracy and Stability of
/// Numerical Algorithms, 2nd ed., section 3.3): every operation adds the rounding of the type it
/// computes in, every store to a narrower type half an ulp of it; integers and bool must be equal.
/// A reduction of n values rounds each of them min(n, 256 + 2 ceil(log2 n)) times, in any order, a
/// product of matrices K times, to the last bit. Of products of more than 2^32 products of elements
/// that no later step reads, some rows and columns and an element in every block of 32 by 32 are
/// compared, which `elements` counts; if they are stored as they are, the sums of all rows too;
/// VerifyOptions::multiply, which the device has (runtime.hpp), leaves none out. If
/// rounding may decide a comparison or a cast, both outcomes pass. If nothing is known of a value
/// (rounding decides whether it overflows or is NaN), any outcome passes.
///
/// `inputs`: tensors as before the launch; outputs may be null. `actual`: as after it, one per
/// tensor; only outputs are read. Throws as `evaluate`, what options.multiply throws, and
/// Error{invalid_argument} if that multiplies wrongly.
[[nodiscard]] Verification verify(const Operation& op, const HostArguments& inputs,
                                  std::span<const void* const> actual,
                                  const VerifyOptions& options = {});

/// Compares `actual` outputs with `expected` ones, memory laid out as the descriptor says: one per
/// tensor; only outputs are read. Takes the differences that `within` allows; a NaN equals a NaN.
/// Throws what `validate` throws, and Error{invalid_argument} if a symbol is missing.
[[nodiscard]] Verification compare(const Operation& op, const SymbolValues& symbols,
                                   std::span<const void* const> expected,
                                   std::span<const void* const> actual,
                                   const ExpectedResults& within);

}  // namespace tilejit
