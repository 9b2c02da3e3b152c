#include "layout/nested_modes.hpp"
#include "tilejit/int_tuple.hpp"

namespace tilejit {
namespace {

using layout::short_text;

[[noreturn]] void refuse_ranks(const char* operation, const IntTuple& a, const IntTuple& b) {
  throw Error(ErrorCode::invalid_layout, std::string(operation) + ": " + short_text(a) +
                                             " of rank " + std::to_string(a.rank()) + " and " +
                                             short_text(b) + " of rank " +
                                             std::to_string(b.rank()) + " do not fit together");
}

/// Integers that b lacks at its end count as 1.
template <typename Operation>
IntTuple by_mode(const IntTuple& a, const IntTuple& b, Operation operation) {
  const std::vector<IntTuple> divisors = layout::modes_of(b);
  IntTuple result = IntTuple::empty_tuple();
  a.for_each_mode([&](const IntTuple& mode) {
    const std::size_t i = result.rank();
    result.append(operation(mode, i < divisors.size() ? divisors[i] : IntTuple(1)));
  });
  return result;
}

/// Divides each mode by the part of the divisor that the modes before it have left.
template <typename Divide>
IntTuple folded(const IntTuple& a, const IntTuple& b, Divide divide) {
  IntTuple result = IntTuple::empty_tuple(), rest = b;
  a.for_each_mode([&](const IntTuple& mode) {
    result.append(divide(mode, rest));
    rest = divide(rest, mode);
  });
  return result;
}

Dim shape_div_leaf(const Dim& a, const Dim& b) {
  if (const auto quotient = Dim::divide(a, b)) return *quotient;
  if (!b.is(0) && Dim::divide(b, a)) return 1;
  const bool known = a.is_known() && b.is_known();
  throw Error(known ? ErrorCode::invalid_layout : ErrorCode::unsupported,
              "shape_div: " + core::shortened(to_string(a)) + " and " +
                  core::shortened(to_string(b)) +
                  (known ? " do not divide" : " need not divide for every value of their symbols") +
                  "; use extents of which one is a multiple of the other");
}

}  // namespace

IntTuple product_each(const IntTuple& tuple) {
  if (tuple.is_leaf()) return tuple;
  IntTuple result = IntTuple::empty_tuple();
  tuple.for_each_mode([&](const IntTuple& mode) { result.append(product(mode)); });
  return result;
}

IntTuple product_like(const IntTuple& tuple, const IntTuple& guide) {
  if (guide.is_leaf()) return product(tuple);
  if (tuple.is_leaf() || tuple.rank() != guide.rank()) refuse_ranks("product_like", tuple, guide);
  return by_mode(tuple, guide, product_like);
}

IntTuple ceil_div(const IntTuple& a, const IntTuple& b) {
  const auto divide = [](const IntTuple& x, const IntTuple& y) { return ceil_div(x, y); };
  if (a.is_leaf()) return ceil_div(a.leaf(), product(b));
  if (b.is_leaf()) return folded(a, b, divide);
  if (a.rank() < b.rank()) refuse_ranks("ceil_div", a, b);
  return by_mode(a, b, divide);
}

IntTuple shape_div(const IntTuple& a, const IntTuple& b) {
  if (a.is_leaf()) return shape_div_leaf(a.leaf(), product(b));
  if (b.is_leaf()) return folded(a, b, shape_div);
  if (a.rank() != b.rank()) refuse_ranks("shape_div", a, b);
  return by_mode(a, b, shape_div);
}

IntTuple round_up(const IntTuple& a, const IntTuple& b) {
  if (a.is_leaf() && b.is_leaf()) return ceil_div(a.leaf(), b.leaf()) * b.leaf();
  if (a.is_leaf() || b.is_leaf() || a.rank() < b.rank()) refuse_ranks("round_up", a, b);
  return by_mode(a, b, round_up);
}

}  // namespace tilejit
