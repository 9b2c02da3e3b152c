#include "tilejit/layout.hpp"

#include <gtest/gtest.h>

#include "tilejit/error.hpp"

namespace tilejit {
namespace {

std::string repeated(std::string_view text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

TEST(Dim, MultipliesAndDivides) {
  struct Row {
    const char *a, *b, *product, *quotient;  // quotient of a by b; "" if not exact
  };
  constexpr Row kRows[] = {
      {"12", "4", "48", "3"},
      {"M", "1", "M", "M"},
      {"M*N", "N", "M*N*N", "M"},
      {"8*M", "4", "32*M", "2*M"},
      {"M", "2", "2*M", ""},
      {"M", "N", "M*N", ""},
      {"0", "7", "0", "0"},
      {"7", "0", "0", ""},
      {"M*M", "M", "M*M*M", "M"},
      {"N*M", "M*N", "M*M*N*N", "1"},
      {"?", "4", "?{div=4}", ""},
      {"?{div=6}", "3", "?{div=18}", "?{div=2}"},
      {"?", "?", "?", ""},
      {"?", "M", "?", ""},
      {"?{div=6}", "?{div=4}", "?{div=24}", ""},
      {"0", "?", "0", "0"},
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(std::string(row.a) + " and " + row.b);
    const Dim a = parse_dim(row.a), b = parse_dim(row.b);
    EXPECT_EQ(to_string(a * b), row.product);
    const auto quotient = Dim::divide(a, b);
    EXPECT_EQ(quotient ? to_string(*quotient) : "", row.quotient);
  }
}

TEST(Dim, UnknownsHaveNoValueAndNoIdentity) {
  const Dim unknown = parse_dim("?{div=8}");
  EXPECT_EQ(unknown, Dim::unknown(8));
  EXPECT_FALSE(unknown.is_known());
  EXPECT_FALSE(unknown.is_named());
  EXPECT_FALSE(unknown.same_value(unknown));
  EXPECT_TRUE(Dim("M").same_value("M"));
  EXPECT_TRUE(Dim(4).same_value(4));
  EXPECT_THROW((void)unknown.evaluate({}), Error);
  EXPECT_THROW((void)Dim::unknown(0), Error);
}

TEST(Dim, FunctionsBecomeProductsWhereThatIsCertain) {
  struct Row {
    DimFunction function;
    const char *a, *b, *result;
  };
  using enum DimFunction;
  constexpr Row kRows[] = {
      {ceil_div, "7", "2", "4"},
      {ceil_div, "8*M", "4", "2*M"},
      {ceil_div, "6*M", "4", "ceil_div(3*M,2)"},
      {ceil_div, "M*N", "4*N", "ceil_div(M,4)"},
      {ceil_div, "M", "2*M", "1"},
      {ceil_div, "1", "M", "1"},
      {ceil_div, "0", "M", "0"},
      {ceil_div, "?{div=8}", "4", "?"},
      {ceil_div, "?{div=8}", "3", "?"},
      {ceil_div, "ceil_div(M,4)", "N", "ceil_div(ceil_div(M,4),N)"},
      {min, "8", "6", "6"},
      {min, "M", "M", "M"},
      {min, "2*M", "4*M", "2*M"},
      {min, "6*N", "9*M", "3*min(3*M,2*N)"},
      {min, "9*M", "6*N", "3*min(3*M,2*N)"},
      {min, "M", "0", "0"},
      {min, "1", "M", "1"},
      {min, "?", "?", "?"},
      {min, "?{div=8}", "12", "?{div=4}"},
      {exact_div, "M*N", "M", "N"},
      {exact_div, "1", "M", "exact_div(1,M)"},
      {stride_div, "3", "5", "1"},
      {stride_div, "M", "5", "stride_div(M,5)"},
  };
  for (const Row& row : kRows) {
    const Dim result = function_of(row.function, parse_dim(row.a), parse_dim(row.b));
    SCOPED_TRACE(row.result);
    EXPECT_EQ(to_string(result), row.result);
    EXPECT_EQ(parse_dim(row.result), result);
  }
  EXPECT_THROW((void)parse_dim("exact_div(7,2)"), Error);
  EXPECT_THROW((void)parse_dim("stride_div(7,2)"), Error);
  EXPECT_THROW((void)parse_dim("ceil_div(M,0)"), Error);
  EXPECT_THROW((void)parse_dim("ceil_div(M)"), Error);
  EXPECT_THROW((void)parse_dim("max(M,4)"), Error);
  EXPECT_THROW((void)parse_dim(repeated("min(M,", 10'000)), Error);
  EXPECT_TRUE(parse_dim("2*M").is_product());
  EXPECT_FALSE(parse_dim("2*min(M,4)").is_product());
  EXPECT_EQ(parse_dim("ceil_div"), Dim("ceil_div"));
}

TEST(Dim, FunctionsHaveValuesWhereTheirSymbolsHave) {
  const SymbolValues values = {{"M", 10}, {"N", 4}};
  EXPECT_EQ(parse_dim("2*ceil_div(M,N)").evaluate(values), 6);
  EXPECT_EQ(parse_dim("min(M,ceil_div(9*N,5))").evaluate(values), 8);
  EXPECT_EQ(parse_dim("exact_div(2*M,N)").evaluate(values), 5);
  EXPECT_EQ(parse_dim("stride_div(N,M)").evaluate(values), 1);
  for (const char* text : {"exact_div(M,N)", "stride_div(M,N)", "ceil_div(M,K)", "min(M,K)"}) {
    EXPECT_THROW((void)parse_dim(text).evaluate(values), Error) << text;
  }
  EXPECT_THROW((void)parse_dim("ceil_div(M,N)").evaluate({{"M", 1}, {"N", 0}}), Error);
}

TEST(Dim, LongFunctionsAreUnknown) {
  Dim dim = "M";
  for (int i = 0; i < 1000; ++i) dim = ceil_div(dim * 3, 2);
  EXPECT_EQ(dim, Dim::unknown());
}

TEST(Dim, Evaluates) {
  const SymbolValues values = {{"M", 3}, {"N", 5}};
  EXPECT_EQ(parse_dim("8*M*N").evaluate(values), 120);
  EXPECT_THROW((void)parse_dim("K").evaluate(values), Error);
  EXPECT_THROW((void)parse_dim("M*M").evaluate({{"M", std::int64_t{1} << 40}}), Error);
}

TEST(Dim, MultipliesAtMostEightSymbols) {
  const std::string eight = repeated("M*", 7) + "M", symbol(64, 'N');
  EXPECT_EQ(to_string(parse_dim("4*" + eight)), "4*" + eight);
  EXPECT_EQ(parse_dim("0*" + eight) * "M", Dim(0));
  for (const std::string& text :
       {eight + "*M", repeated("M*", 20'000) + "M", repeated(symbol + "*", 8) + symbol}) {
    try {
      (void)parse_dim(text);
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unsupported);
      EXPECT_NE(std::string(error.what()).find("more than 8 symbols"), std::string::npos);
      EXPECT_LT(std::string(error.what()).size(), 300u);
    }
  }
}

TEST(Layout, PrintsWhatItParsed) {
  for (const char* text :
       {"1:0", "8:1", "(8):(1)", "(8,(4,2)):(1,(8,32))", "((2,2),(2,(2,2))):((1,4),(2,(8,16)))",
        "(M,N):(N,1)", "(8*M,4):(4,1)", "(0,8):(8,1)", "9223372036854775807:0"}) {
    SCOPED_TRACE(text);
    const Layout layout = parse_layout(text);
    EXPECT_EQ(to_string(layout), text);
    EXPECT_EQ(parse_layout(to_string(layout)), layout);
  }
  EXPECT_EQ(to_string(parse_layout(" ( 8 , N ) : ( N , 1 ) ")), "(8,N):(N,1)");
}

TEST(Layout, MakesCompactStrides) {
  struct Row {
    const char *shape, *row, *column;
  };
  constexpr Row kRows[] = {
      {"8", "1", "1"},
      {"(4,8)", "(8,1)", "(1,4)"},
      {"(4,1,8)", "(8,0,1)", "(1,0,4)"},  // an extent of 1 has stride 0, as in CuTe
      {"(M,N)", "(N,1)", "(1,M)"},
      {"(2,(3,4))", "(12,(4,1))", "(1,(2,6))"},
      {"(B,M,N)", "(M*N,N,1)", "(1,B,B*M)"},
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.shape);
    const IntTuple shape = parse_int_tuple(row.shape);
    EXPECT_EQ(to_string(row_major(shape).stride()), row.row);
    EXPECT_EQ(to_string(column_major(shape).stride()), row.column);
    EXPECT_EQ(parse_layout(row.shape), row_major(shape));
  }
  const int order[] = {1, 2, 0};
  EXPECT_EQ(to_string(ordered(parse_int_tuple("(2,3,4)"), order)), "(2,3,4):(4,8,1)");
}

TEST(Layout, RefusesOrdersThatAreNoPermutation) {
  const IntTuple shape = parse_int_tuple("(2,3)");
  for (const std::vector<int>& order :
       {std::vector<int>{0}, {0, 0}, {1, 2}, {-1, 0}, {0, 1, 2}, {}}) {
    EXPECT_THROW((void)ordered(shape, order), Error);
  }
}

TEST(Layout, Cosize) {
  EXPECT_EQ(cosize(parse_layout("(4,8):(8,1)")), 32);
  EXPECT_EQ(cosize(parse_layout("(4,8):(16,1)")), 56);
  EXPECT_EQ(cosize(parse_layout("(0,8):(8,1)")), 0);
  EXPECT_EQ(cosize(parse_layout("(5,8):(0,1)")), 8);
  EXPECT_EQ(cosize(parse_layout("(M,N):(N,1)"), {{"M", 3}, {"N", 7}}), 21);
  EXPECT_THROW((void)cosize(parse_layout("(4611686018427387904,3):(2,1)")), Error);
}

TEST(Layout, Substitutes) {
  EXPECT_EQ(to_string(substitute(parse_layout("(M,(2,N)):(2*N,(N,1))"), {{"M", 3}, {"N", 7}})),
            "(3,(2,7)):(14,(7,1))");
}

TEST(Layout, RefusesBadText) {
  struct Row {
    const char *name, *text, *says;
  };
  const std::string deep(100'000, '(');
  const std::string wide = "(" + repeated("M,", 20'000) + "M)";
  const std::string nested = "(1,(" + repeated("M,", 20'000) + "M))";
  const std::string wide_stride = "(1,2):(" + repeated("0,", 20'000) + "0)";
  const std::string symbol(64, 'M');
  const std::string long_symbols = "(" + repeated(symbol + ",", 60) + symbol + "):1";
  const Row rows[] = {
      {"empty", "", "position 0"},
      {"unbalanced", "(8,4:1", "',' or ')'"},
      {"closed twice", "(8,4)):(1,8)", "position 5"},
      {"empty mode", "(8,):(1,8)", "position 3"},
      {"empty tuple", "():()", "an integer, a symbol or '?'"},
      {"negative", "(8,-4):(1,8)", "not negative"},
      {"huge", "(99999999999999999999):(1)", "2^63-1"},
      {"not congruent", "(8,4):(1,8,32)", "not nested alike"},
      {"nested differently", "(8,4):1", "not nested alike"},
      {"no stride", "8:", "the end"},
      {"trailing", "8:1 x", "position 4"},
      {"float", "8.5:1", "position 1"},
      {"control bytes", "\x01\x02", "unprintable"},
      {"100,000 parentheses", deep.c_str(), "64 levels"},
      {"20,000 modes", wide.c_str(), "at most 64 extents"},
      {"20,000 nested modes", nested.c_str(), "at most 64 extents"},
      {"20,000 modes against 1", wide_stride.c_str(), "at most 64 extents"},
      {"long symbols, not congruent", long_symbols.c_str(), "not nested alike"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    try {
      (void)parse_layout(row.text);
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_layout);
      EXPECT_NE(std::string(error.what()).find(row.says), std::string::npos) << error.what();
      EXPECT_LT(std::string(error.what()).size(), 300u);
    }
  }
}

TEST(IntTuple, RankAndDepth) {
  const IntTuple tuple = parse_int_tuple("(2,(3,(4)),5)");
  EXPECT_EQ(rank(tuple), 3u);
  EXPECT_EQ(depth(tuple), 3u);
  EXPECT_EQ(to_string(product(tuple)), "120");
  EXPECT_EQ(rank(IntTuple(4)), 1u);
  EXPECT_EQ(depth(IntTuple(4)), 0u);
  EXPECT_NE(parse_int_tuple("4"), parse_int_tuple("(4)"));
  EXPECT_FALSE(congruent(parse_int_tuple("4"), parse_int_tuple("(4)")));
}

}  // namespace
}  // namespace tilejit
