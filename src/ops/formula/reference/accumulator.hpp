#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <variant>

#include "expr/program.hpp"
#include "reference/bounds.hpp"

namespace tilejit::reference {

/// Neighbouring values of the node that is being combined.
struct Values {
  std::span<const double> reals = {};           ///< if the node is floating
  std::span<const std::int64_t> integers = {};  ///< otherwise
  std::span<const double> bounds = {};          ///< empty: not wanted
  std::int64_t place = 0;  ///< place of the first value, along the reduced axes
};

/// A result of a reduction or a scan: `real` or `integer`, by the type of its node.
struct Reduced {
  double real = 0;
  std::int64_t integer = 0;
  double bound = 0;
};

/// The longest chain of roundings that leads to the result of `count` combined values. Kernels
/// promise not to exceed it, in whatever order they add or multiply.
[[nodiscard]] double reduction_depth(std::int64_t count) noexcept;
/// The same for the last of `count` results of a scan.
[[nodiscard]] double scan_depth(std::int64_t count) noexcept;
using Depth = double (*)(std::int64_t count) noexcept;

/// Sum of floating values, with compensation (Neumaier).
class RealSum {
 public:
  explicit RealSum(Depth depth) noexcept : depth_(depth) {}
  void add(const Values& values) noexcept;
  void merge(const RealSum& later) noexcept;
  [[nodiscard]] Reduced result(DType type) const noexcept;

 private:
  void add(double value) noexcept;
  void add_bound(double value, double bound) noexcept;
  [[nodiscard]] double bound(DType type, double sum) const noexcept;

  Depth depth_;
  std::int64_t count_ = 0;
  double sum_ = 0, compensation_ = 0;  // of the finite values
  double special_ = 0;                 // sum of the values that are not finite
  bool has_special_ = false;
  bool certain_nan_ = false;
  double magnitude_ = 0;  // sum of the largest magnitudes that the device's finite values can have
  double carried_ = 0;    // sum of bounds
  double grain_ = 0;      // smallest last bit of all values, as a power of two; 0: all are 0
};

/// Product of floating values, kept as a mantissa and an exponent that may exceed that of double.
class RealProduct {
 public:
  explicit RealProduct(Depth depth) noexcept : depth_(depth) {}
  void add(const Values& values) noexcept;
  void merge(const RealProduct& later) noexcept;
  [[nodiscard]] Reduced result(DType type) const noexcept;

 private:
  void multiply(double mantissa, std::int64_t exponent) noexcept;
  void add_bound(double value, double bound) noexcept;
  [[nodiscard]] double bound(DType type, double product) const noexcept;

  Depth depth_;
  std::int64_t count_ = 0;
  double mantissa_ = 1;
  std::int64_t exponent_ = 0;
  bool unknown_ = false;  // nothing is known about one factor
  bool certain_nan_ = false, has_infinity_ = false, certain_zero_ = false, may_be_zero_ = false;
  double growth_ = 0;         // logarithm of the product of 1 + bound / |factor|
  double up_ = 0, down_ = 0;  // sums of the positive and the negative log2 of the factors
};

/// Smallest or largest floating value. NaN is ignored.
class RealExtremum {
 public:
  explicit RealExtremum(bool largest) noexcept : largest_(largest) {}
  void add(const Values& values) noexcept;
  void merge(const RealExtremum& later) noexcept;
  [[nodiscard]] Reduced result() const noexcept;

 private:
  void take(double value) noexcept;

  bool largest_;
  bool any_value_ = false, any_number_ = false;
  double best_ = 0;
  double bound_ = 0;
};

/// Sum or product of integers, wrapping.
class IntegerTotal {
 public:
  explicit IntegerTotal(bool product) noexcept : product_(product), total_(product ? 1 : 0) {}
  void add(const Values& values) noexcept;
  void merge(const IntegerTotal& later) noexcept;
  [[nodiscard]] Reduced result(DType type) const noexcept;

 private:
  bool product_;
  std::uint64_t total_;
  double carried_ = 0;  // sum of bounds
};

/// Smallest or largest integer.
class IntegerExtremum {
 public:
  IntegerExtremum(DType type, bool largest) noexcept;
  void add(const Values& values) noexcept;
  void merge(const IntegerExtremum& later) noexcept;
  [[nodiscard]] Reduced result() const noexcept { return {.integer = best_, .bound = bound_}; }

 private:
  void take(std::int64_t value) noexcept;

  DType type_;
  bool largest_;
  std::int64_t best_;
  double bound_ = 0;
};

/// Whether one of several truth values is `deciding`.
class Decision {
 public:
  explicit Decision(bool deciding) noexcept : deciding_(deciding) {}
  void add(const Values& values) noexcept;
  void merge(const Decision& later) noexcept;
  [[nodiscard]] Reduced result() const noexcept;

 private:
  bool deciding_;
  bool found_ = false, certain_ = false;
  bool uncertain_ = false;  // one value may differ on the device
};

/// The first place of the smallest or largest number. If rounding may make another place win, the
/// bound is infinite: the candidate places need not be neighbours, so a distance says nothing.
class BestPlace {
 public:
  BestPlace(DType type, bool largest) noexcept : type_(type), largest_(largest) {}
  void add(const Values& values) noexcept;
  void merge(const BestPlace& later) noexcept;
  [[nodiscard]] Reduced result() const noexcept;

 private:
  struct Candidate {
    double real = 0;
    std::int64_t integer = 0;
    double bound = 0;
    std::int64_t place = 0;
  };
  void take(const Candidate& candidate) noexcept;
  void add_rival(const Candidate& candidate) noexcept;
  [[nodiscard]] bool beats(const Candidate& a, const Candidate& b) const noexcept;
  // A score: larger is better.
  [[nodiscard]] double score(const Candidate& candidate) const noexcept;

  DType type_;
  bool largest_;
  bool any_ = false;
  bool unknown_ = false;  // nothing is known about one number
  Candidate best_;
  // The scores that other candidates may reach: exact ones, and those with a bound.
  double exact_rival_ = -std::numeric_limits<double>::infinity();
  double uncertain_rival_ = -std::numeric_limits<double>::infinity();
};

/// Accumulates one result of a reduction, or the results of a scan one after another.
class Accumulator {
 public:
  /// `node` is a reduction or scan, `argument` the type of the combined values.
  Accumulator(const expr::Node& node, DType argument);

  /// Values must come in the order of their places.
  void add(const Values& values) noexcept;
  /// Adds what `later` has combined, at places after this one's.
  void merge(const Accumulator& later) noexcept;
  /// The result in the range of the node's type.
  [[nodiscard]] Reduced result() const noexcept;

 private:
  using State = std::variant<RealSum, RealProduct, RealExtremum, IntegerTotal, IntegerExtremum,
                             Decision, BestPlace>;
  static State start(expr::Op op, DType argument) noexcept;

  DType type_;
  State state_;
};

}  // namespace tilejit::reference
