// Answers for symbols hold for the symbols' values.
#include <gtest/gtest.h>

#include <algorithm>

#include "layout/domains.hpp"
#include "tilejit/layout_algebra.hpp"
#include "tilejit/layout_functions.hpp"

namespace tilejit {
namespace {

class SymbolLaws : public RandomDomains {
 protected:
  /// Some dimensions become symbols, or a factor times a symbol; equal ones may share a name.
  Dim hidden(const Dim& known) {
    if (pick(0, 2) > 0 || known.is(0)) return known;
    const std::int64_t factor = known.value() % 2 == 0 ? pick(1, 2) : 1;
    for (const auto& [name, value] : values_) {
      if (factor * value == known.value() && pick(0, 1) == 0) return Dim(factor) * Dim(name);
    }
    std::string name = "s";
    name += std::to_string(values_.size());
    values_[name] = known.value() / factor;
    return Dim(factor) * Dim(name);
  }
  Layout symbolic_compact(int most_modes, std::int64_t most) {
    const IntTuple shape =
        any_layout(most_modes, most).shape().map([&](const Dim& extent) { return hidden(extent); });
    return pick(0, 1) == 0 ? column_major(shape) : row_major(shape);
  }
  Layout symbolic_layout(int most_modes, std::int64_t most) {
    if (pick(0, 1) == 0) return symbolic_compact(most_modes, most);
    return any_layout(most_modes, most).modes().map([&](const Mode& mode) {
      return Mode{hidden(mode.extent), hidden(mode.stride)};
    });
  }
  [[nodiscard]] Layout filled(const Layout& layout) const { return substitute(layout, values_); }
  static bool has_symbols(const Layout& layout) {
    return std::ranges::any_of(layout.leaves(), [](const Mode& leaf) {
      return !leaf.extent.is_known() || !leaf.stride.is_known();
    });
  }
  /// Whether the answer for symbols was compared with the one for their values, which may be
  /// refused: symbols are assumed to divide.
  template <typename Operation>
  bool is_same(Operation operation, const Layout& a, const Layout& b) const {
    const auto expected = answer([&] { return operation(filled(a), filled(b)); });
    const auto symbolic = answer([&] { return operation(a, b); });
    if (!expected || !symbolic) return false;
    const auto result = answer([&] { return filled(*symbolic); });
    if (!result) return false;  // a quotient that turns out not to be exact
    EXPECT_EQ(values_of(*result), values_of(*expected)) << to_string(*symbolic);
    return true;
  }

  SymbolValues values_;
};

TEST_F(SymbolLaws, InversesInvertForAllValues) {
  int right = 0, left = 0, common = 0;
  for (int n = 0; n < kCases; ++n) {
    values_.clear();
    const Layout a = symbolic_layout(3, 5), b = pick(0, 1) == 0 ? a : symbolic_layout(2, 4);
    if (!has_symbols(a)) continue;
    const Layout known = filled(a), other = filled(b);
    SCOPED_TRACE(to_string(a) + " is " + to_string(known) + ", and " + to_string(b));
    if (const auto inverse = answer([&] { return filled(right_inverse(a)); })) {
      right += size(*inverse).value() > 1;
      for (std::int64_t i = 0; i < size(*inverse).value(); ++i) {
        ASSERT_EQ(value_at(known, value_at(*inverse, i)), i) << to_string(*inverse);
      }
    }
    if (const auto inverse = answer([&] { return filled(left_inverse(a)); });
        inverse && is_injective(a) == true) {
      ++left;
      for (std::int64_t i = 0; i < size(known).value(); ++i) {
        ASSERT_EQ(value_at(*inverse, value_at(known, i)), i) << to_string(*inverse);
      }
    }
    if (const auto found = answer([&] { return filled(max_common_layout(a, b)); })) {
      common += size(*found).value() > 1;
      for (std::int64_t i = 0; i < size(*found).value(); ++i) {
        ASSERT_EQ(value_at(known, value_at(*found, i)), i) << to_string(*found);
        ASSERT_EQ(value_at(other, value_at(*found, i)), i) << to_string(*found);
      }
    }
  }
  EXPECT_GT(right, kCases / 4);
  EXPECT_GT(left, kCases / 8);
  EXPECT_GT(common, kCases / 8);
}

TEST_F(SymbolLaws, WhatIsCertainHoldsForAllValues) {
  int injective = 0, others = 0, compact = 0, vectors = 0, even = 0, alike = 0;
  for (int n = 0; n < kCases; ++n) {
    values_.clear();
    const Layout a = symbolic_layout(3, 5), b = symbolic_layout(1, 4);
    if (!has_symbols(a)) continue;
    const Layout known = filled(a);
    SCOPED_TRACE(to_string(a) + " is " + to_string(known) + ", and " + to_string(b));
    const bool is_once = reaches_nothing_twice(known);
    if (const auto decided = is_injective(a)) {
      ASSERT_EQ(*decided, is_once);
      ++(is_once ? injective : others);
    }
    if (is_compact(a)) {
      ASSERT_TRUE(is_once && cosize(known) == size(known).value());
      ++compact;
    }
    const std::int64_t vector = contiguous_vector(a).evaluate(values_);
    for (std::int64_t i = 0; i < vector; ++i) ASSERT_EQ(value_at(known, i), i);
    vectors += vector > 1;
    if (answer([&] { return evenly_divides(a.shape(), b); }) == true) {
      const auto divides = answer([&] { return evenly_divides(known.shape(), filled(b)); });
      ASSERT_NE(divides, false);
      even += divides == true;
    }
    const IntTuple coarse = product_each(a.shape());
    if (compatible(coarse, a.shape())) {
      ASSERT_TRUE(compatible(product_each(known.shape()), known.shape()));
      ++alike;
    }
  }
  EXPECT_GT(injective, kCases / 4);
  EXPECT_GT(others, 0);
  EXPECT_GT(compact, kCases / 8);
  EXPECT_GT(vectors, kCases / 8);
  EXPECT_GT(even, 10);
  EXPECT_GT(alike, kCases / 4);
}

// Products of compact blocks: for others, CuTe's answer need not be the same function of every
// value.
TEST_F(SymbolLaws, OperationsFilledInAreThoseOfTheValues) {
  struct Row {
    const char* name;
    bool of_compact;
    Layout (*operation)(const Layout&, const Layout&);
    int compared = 0;
  };
  Row rows[] = {
      {"logical", true, [](const Layout& a, const Layout& b) { return logical_product(a, b); }},
      {"flat", true, [](const Layout& a, const Layout& b) { return flat_product(a, b); }},
      {"blocked", true, blocked_product},
      {"raked", true, raked_product},
      {"filter", false, [](const Layout& a, const Layout&) { return filter(a); }},
      {"nullspace", false, [](const Layout& a, const Layout&) { return nullspace(a); }},
      {"upcast", false, [](const Layout& a, const Layout&) { return upcast(a, 2); }},
  };
  for (int n = 0; n < kCases && !HasFailure(); ++n) {
    values_.clear();
    const Layout a = symbolic_layout(3, 4), b = symbolic_layout(1, 3);
    const Layout block = symbolic_compact(3, 4);
    for (Row& row : rows) {
      const Layout& left = row.of_compact ? block : a;
      if (!has_symbols(left)) continue;
      SCOPED_TRACE(row.name + (" of " + to_string(left)) + " and " + to_string(b));
      row.compared += is_same(row.operation, left, b);
    }
  }
  for (const Row& row : rows) EXPECT_GT(row.compared, kCases / 8) << row.name;
}

}  // namespace
}  // namespace tilejit
