// The values of its symbols for which a general descriptor computes what another one asks for.
#include "launch/fallback.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tilejit::launch {
namespace {

Fused op_of(const std::string& x, const std::string& y, std::vector<Symbol> symbols = {}) {
  return {.name = "op",
          .symbols = std::move(symbols),
          .tensors = {{"x", f16, x}, {"y", f16, y}},
          .formula = "y = x"};
}

TEST(Admits, GivesTheValuesOfSymbols) {
  struct Row {
    const char *general, *wanted;
    SymbolValues values;
  };
  const Row rows[] = {
      {"(M,N):(N,1)", "(4,8):(8,1)", {{"M", 4}, {"N", 8}}},
      {"(M,N):(N,1)", "(M,8):(8,1)", {{"N", 8}}},
      {"(M,N):(N,1)", "(M,N):(N,1)", {}},
      {"(M,8):(8,1)", "(4,8):(8,1)", {{"M", 4}}},
      {"(M,N):(S,1)", "(4,8):(16,1)", {{"M", 4}, {"N", 8}, {"S", 16}}},
      {"(B,M,N):(M*N,N,1)", "(2,4,8):(32,8,1)", {{"B", 2}, {"M", 4}, {"N", 8}}},
      {"(B,M,N):(M*N,N,1)", "(2,M,8):(8*M,8,1)", {{"B", 2}, {"N", 8}}},
      {"(M,(N,2)):(2*N,(2,1))", "(4,(8,2)):(16,(2,1))", {{"M", 4}, {"N", 8}}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.wanted);
    const auto values = admits(op_of(row.general, row.general), op_of(row.wanted, row.wanted));
    ASSERT_TRUE(values);
    EXPECT_EQ(*values, row.values);
  }
}

TEST(Admits, RefusesWhatWouldComputeSomethingElse) {
  const char* const rows[][2] = {
      {"(M,N):(N,1)", "(4,8):(16,1)"},      // another stride
      {"(M,M):(M,1)", "(4,8):(8,1)"},       // one symbol, two values
      {"(M,N):(N,1)", "(K,8):(8,1)"},       // a symbol of another name
      {"(M,N):(N,1)", "(2,4,8):(32,8,1)"},  // another rank
      {"(M,N):(N,1)", "(4,(2,4)):(8,(4,1))"}, {"(M,16):(16,1)", "(4,8):(8,1)"},
      {"(4,8):(8,1)", "(M,8):(8,1)"},  // the wrong way round
      {"(2*M,8):(8,1)", "(5,8):(8,1)"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row[1]);
    EXPECT_FALSE(admits(op_of(row[0], row[0]), op_of(row[1], row[1])));
  }
}

TEST(Admits, ComparesEverythingElse) {
  const Fused general = op_of("(M,N):(N,1)", "(M,N):(N,1)"),
              wanted = op_of("(4,8):(8,1)", "(4,8):(8,1)");
  ASSERT_TRUE(admits(general, wanted));
  Fused other = wanted;
  other.name = "renamed";
  other.tuning.threads = 128;
  EXPECT_TRUE(admits(general, other));
  std::vector<Fused> others(7, wanted);
  others[0].formula = "y = x + 0";
  others[1].tensors[0].dtype = bf16;
  others[2].tensors[0].name = "z";
  others[3].tensors[1].access = Access::out;
  others[4].scalars = {{"a", f32}};
  others[5].axis = {0};
  others[6].tensors[0].align = 8;  // the general one relies on 16
  for (std::size_t i = 0; i < others.size(); ++i) EXPECT_FALSE(admits(general, others[i])) << i;
}

TEST(Admits, KeepsPromises) {
  const std::vector<Symbol> by_eight = {{.name = "N", .divisible_by = 8}};
  const Fused general = op_of("(M,N):(N,1)", "(M,N):(N,1)", by_eight);
  EXPECT_TRUE(admits(general, op_of("(4,16):(16,1)", "(4,16):(16,1)")));
  EXPECT_FALSE(admits(general, op_of("(4,12):(12,1)", "(4,12):(12,1)")));
  EXPECT_FALSE(admits(general, op_of("(4,N):(N,1)", "(4,N):(N,1)")));
  EXPECT_TRUE(
      admits(general, op_of("(4,N):(N,1)", "(4,N):(N,1)", {{.name = "N", .divisible_by = 16}})));
}

}  // namespace
}  // namespace tilejit::launch
