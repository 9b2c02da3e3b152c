// The text of an index, compiled and compared with the layout's own evaluation.
#include "layout/emit.hpp"

#include <gtest/gtest.h>

#include "layout/random_layouts.hpp"
#include "layout/refusals.hpp"
#include "layout/vectors.hpp"
#include "support/host_library.hpp"

namespace tilejit {
namespace {

using layout::emit;
using layout::emit_callable;
using layout::IndexBits;
using layout::IndexStyle;

std::string text_at(const ComposedLayout& layout, const std::vector<std::string>& coordinates,
                    const IndexStyle& style = {}) {
  return emit(layout, coordinates, style);
}

TEST(Emit, WritesWhatTheIndexNeeds) {
  const struct {
    const char* layout;
    std::vector<std::string> coordinates;
    const char* text;
  } cases[] = {
      {"8:1", {"i"}, "i"},
      {"8:2", {"i"}, "i * 2"},
      {"8:0", {"i"}, "0"},
      {"1:5", {"i"}, "0"},
      {"(4,8):(8,1)", {"i"}, "(i & 3) * 8 + (i >> 2)"},
      {"(3,5,7):(35,7,1)", {"i"}, "i % 3 * 35 + i / 3 % 5 * 7 + i / 15"},
      {"(4,1,8):(8,3,1)", {"i", "j", "k"}, "i * 8 + k"},
      {"(4,(2,3)):(1,(12,4))", {"i", "j"}, "i + (j & 1) * 12 + (j >> 1) * 4"},
      {"(2,3,4):(0,1,0)", {"i"}, "(i >> 1) % 3"},
      {"(4,0):(1,4)", {"i", "j"}, "i"},
      {"Sw<1,0,2> o 3 o (4,4):(4,1)",
       {"i", "j"},
       "((i * 4 + j + 3) ^ (((i * 4 + j + 3) & 4) >> 2))"},
      {"Sw<2,1,-3> o 0 o 64:1", {"i"}, "(i ^ ((i & 6) << 3))"},
      {"Sw<0,0,0> o 5 o 8:1", {"i"}, "i + 5"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(text_at(parse_composed_layout(c.layout), c.coordinates), c.text) << c.layout;
  }
}

TEST(Emit, FollowsTheStyle) {
  const Layout layout("((4,M,2),8):((1,0,4),N)");
  IndexStyle style{.dim = [](const Dim& dim) { return "p." + to_string(dim); }};
  EXPECT_EQ(text_at(layout, {"i", "j"}, style), "(i & 3) + (i >> 2) / p.M * p.4 + j * p.N");
  style.shifts = false;
  EXPECT_EQ(text_at(layout, {"i", "j"}, style), "i % p.4 + i / p.4 / p.M * p.4 + j * p.N");
  style.leaf_by_leaf = true;
  EXPECT_EQ(text_at(layout, {"i", "j"}, style),
            "i % p.4 * p.1 + i / p.4 % p.M * p.0 + i / p.4 / p.M * p.4 + j * p.N");
  style = {.dim = style.dim,
           .quotient = [](const std::string& value,
                          const Dim& by) { return "div(" + value + ", " + to_string(by) + ")"; },
           .remainder = [](const std::string& value,
                           const Dim& by) { return "mod(" + value + ", " + to_string(by) + ")"; }};
  EXPECT_EQ(text_at(layout, {"i"}, style),
            "(i & 3) + (div((i >> 2), M) & 1) * p.4 + (div((i >> 2), M) >> 1) * p.N");
}

TEST(Emit, RefusesWhatHasNoText) {
  EXPECT_EQ(text_at(Layout("(4,M):(1,4)"), {"i", "j"}), "i + j * 4");  // M is not needed
  EXPECT_THROW((void)text_at(Layout("(4,8,2)"), {"i", "j"}), std::logic_error);
  const auto callable = [](const char* name, const char* layout, IndexBits bits = IndexBits::b64) {
    return [=] { (void)emit_callable(name, Layout(layout), bits); };
  };
  constexpr ErrorCode kUnsupported = ErrorCode::unsupported;
  const Refusal refusals[] = {
      {"symbol", "found M", kUnsupported, [] { (void)text_at(Layout("8:M"), {"i"}); }},
      {"unknown extent", "found ?", kUnsupported, callable("A", "?:1")},
      {"unknown stride", "found ?{div=4}", kUnsupported, callable("A", "8:?{div=4}")},
      {"coordinate", "found 1@0", kUnsupported, callable("A", "8:1@0")},
      {"function", "found ceil_div(M,4)", kUnsupported, callable("A", "ceil_div(M,4):1")},
      {"size", "use 64", kUnsupported, callable("A", "(32768,65536):(0,0)", IndexBits::b32)},
      {"cosize", "use 64", kUnsupported, callable("A", "2:2147483647", IndexBits::b32)},
      {"stride", "use 64", kUnsupported, callable("A", "(2,M):(1,4294967296)", IndexBits::b32)},
      {"name", "found 'A b'", ErrorCode::invalid_argument, callable("A b", "8:1")},
  };
  expect_refused(refusals);
}

TEST(EmitCallable, IsThisType) {
  EXPECT_EQ(emit_callable("Tile", parse_composed_layout("Sw<1,0,2> o 0 o (8,M):(1,8*N)")),
            R"(struct Tile {  // Sw<1,0,2> o 0 o (8,M):(1,8*N)
  i64 dim_M;
  i64 dim_N;
  static constexpr int rank = 2;
  __device__ constexpr i64 extent(int mode) const { return mode == 0 ? 8 : dim_M; }
  __device__ constexpr i64 operator()(i64 c0) const {
    const i64 index = (c0 & 7) + (c0 >> 3) * (8 * dim_N);
    return index ^ ((index & 4) >> 2);
  }
  __device__ constexpr i64 operator()(i64 c0, i64 c1) const {
    const i64 index = c0 + c1 * (8 * dim_N);
    return index ^ ((index & 4) >> 2);
  }
};
)");
}

// A swizzle moves indices only within its block, which a layout may cover partly.
TEST(EmitCallable, CosizeHoldsWhatASwizzleReaches) {
  const struct {
    const char *layout, *cosize;
  } cases[] = {{"Sw<0,0,0> o 0 o (4,5):(1,4)", " cosize = 20;"},
               {"Sw<3,3,3> o 0 o (8,64):(64,1)", " cosize = 512;"},
               {"Sw<1,0,4> o 0 o 16:1", " cosize = 16;"},
               {"Sw<1,0,4> o 0 o 17:1", " cosize = 18;"},
               {"Sw<2,1,-3> o 0 o 3:1", " cosize = 64;"},
               {"Sw<2,1,-3> o 0 o 2:1", " cosize = 2;"},
               {"(4,0):(1,4)", " cosize = 0;"}};
  for (const auto& c : cases) {
    EXPECT_NE(emit_callable("A", parse_composed_layout(c.layout)).find(c.cosize), std::string::npos)
        << emit_callable("A", parse_composed_layout(c.layout));
  }
}

constexpr const char* kPrelude = R"(
#define __device__
using i32 = int;
using i64 = long long;
static i64 quotient(i64 a, i64 b) { return a / b; }
static i64 remainder_of(i64 a, i64 b) { return a % b; }
)";

/// Layouts whose texts are compiled together; one build takes as long as hundreds.
class EmittedIndices : public RandomLayouts {
 protected:
  void add(ComposedLayout layout, SymbolValues symbols = {}) {
    cases_.push_back({std::move(layout), std::move(symbols)});
  }

  Swizzle random_swizzle() {
    const auto bits = static_cast<int>(pick(0, 3));
    const auto shift = static_cast<int>(pick(bits, 4));
    return {bits, static_cast<int>(pick(0, 3)), pick(0, 1) == 0 ? shift : -shift};
  }

  void compile_and_compare() {
    std::string text = kPrelude;
    for (std::size_t k = 0; k < cases_.size(); ++k) text += text_of(k);
    const test::HostLibrary library(text);
    for (std::size_t k = 0; k < cases_.size(); ++k) compare(library, k);
  }

 private:
  using Call = std::int64_t(const std::int64_t* coordinates);
  struct Case {
    ComposedLayout layout;
    SymbolValues symbols;
  };
  /// Per layout: both widths of the type, and the expression in each style.
  static constexpr int kForms = 5;

  static std::string coordinate(std::size_t i) { return "c[" + std::to_string(i) + "]"; }

  std::string function(std::size_t k, int form, bool flat, const std::string& body) const {
    return "extern \"C\" i64 f" + name(k, form, flat) + "(const i64* c) { " + body + " }\n";
  }
  static std::string name(std::size_t k, int form, bool flat) {
    return std::to_string(k) + '_' + std::to_string(form) + (flat ? "_flat" : "_modes");
  }

  IndexStyle style(const Case& c, int form) const {
    IndexStyle style{
        .dim = [&](const Dim& dim) { return std::to_string(dim.evaluate(c.symbols)) + "ll"; }};
    style.shifts = form != 3;
    style.leaf_by_leaf = form == 3;
    if (form != 4) return style;
    style.quotient = [dim = style.dim](const std::string& value, const Dim& by) {
      return "quotient(" + value + ", " + dim(by) + ")";
    };
    style.remainder = [dim = style.dim](const std::string& value, const Dim& by) {
      return "remainder_of(" + value + ", " + dim(by) + ")";
    };
    return style;
  }

  std::string text_of(std::size_t k) const {
    const Case& c = cases_[k];
    const std::string id = std::to_string(k);
    std::string text = emit_callable("A" + id, c.layout, IndexBits::b32) +
                       emit_callable("B" + id, c.layout, IndexBits::b64),
                values;
    for (const auto& [symbol, value] : c.symbols) values += std::to_string(value) + ", ";
    for (const bool flat : {true, false}) {
      std::vector<std::string> coordinates;
      std::string arguments;
      for (std::size_t i = 0; i < (flat ? 1 : rank(c.layout.layout())); ++i) {
        coordinates.push_back(coordinate(i));
        arguments += (i == 0 ? "" : ", ") + coordinate(i);
      }
      for (int form = 0; form < 2; ++form) {
        const std::string type = (form == 0 ? "A" : "B") + id;
        text += function(k, form, flat,
                         "constexpr " + type + " a{" + values + "}; return a(" + arguments + ");");
      }
      for (int form = 2; form < kForms; ++form) {
        text +=
            function(k, form, flat, "return " + emit(c.layout, coordinates, style(c, form)) + ";");
      }
    }
    return text;
  }

  void compare(const test::HostLibrary& library, std::size_t k) const {
    const Case& c = cases_[k];
    const ComposedLayout known(c.layout.swizzle(), c.layout.offset(),
                               substitute(c.layout.layout(), c.symbols));
    SCOPED_TRACE(to_string(c.layout) + " = " + to_string(known));
    const Layout numbers = make_identity(known.layout().shape());
    const std::int64_t count = size(known.layout()).value(), step = count / 1000 + 1;
    for (int form = 0; form < kForms; ++form) {
      auto* const flat = library.find<Call>("f" + name(k, form, true));
      auto* const modes = library.find<Call>("f" + name(k, form, false));
      ASSERT_TRUE(flat != nullptr && modes != nullptr);
      for (std::int64_t i = 0; i < count; i += step) {
        std::vector<std::int64_t> coordinates;
        const Coordinate at = get_flat_coord(i, numbers);
        for (const CoordinateLeaf& leaf : at.leaves()) coordinates.push_back(leaf.value());
        ASSERT_EQ(flat(&i), known(i)) << "form " << form << " at " << i;
        ASSERT_EQ(modes(coordinates.data()), known(i))
            << "form " << form << " at " << to_string(at);
      }
    }
  }

  std::vector<Case> cases_;
};

TEST_F(EmittedIndices, OfRandomLayouts) {
  for (int n = 0; n < 60; ++n) add(random_layout(static_cast<int>(pick(1, 4)), 6));
  for (int n = 0; n < 30; ++n) add(layout_of_bits(static_cast<int>(pick(1, 4)), 3));
  compile_and_compare();
}

TEST_F(EmittedIndices, OfRandomSwizzledLayouts) {
  for (int n = 0; n < 60; ++n) {
    const Layout inside = pick(0, 1) == 0 ? layout_of_bits(static_cast<int>(pick(1, 3)), 3)
                                          : random_layout(static_cast<int>(pick(1, 3)), 6);
    add({random_swizzle(), pick(0, 1) * pick(0, 100), inside});
  }
  compile_and_compare();
}

TEST_F(EmittedIndices, OfSymbolicLayouts) {
  const SymbolValues symbols = {{"M", pick(1, 7)}, {"N", pick(1, 9)}};
  for (const char* layout :
       {"(M,N):(N,1)", "(M,N):(1,M)", "((4,M),N):((1,8),32*M)", "(M,(N,8)):(1,(8*M,M))",
        "((2,M,3),(N,4)):((1,2,M*N),(5,0))", "(M,4,N):(4,1,4*M)", "((M,N),2):((0,1),N)"}) {
    add(Layout(layout), symbols);
    add({random_swizzle(), pick(0, 9), layout}, symbols);
  }
  for (int n = 0; n < 20; ++n) {
    IntTuple shape =
        random_shape(3, 5).map([&](const Dim& leaf) { return pick(0, 3) == 0 ? Dim("M") : leaf; });
    if (pick(0, 1) == 0) shape.append(Dim("N") * Dim(2));
    shape.append("M");  // so that every layout has both
    shape.append("N");
    add(pick(0, 1) == 0 ? row_major(shape) : column_major(shape), symbols);
  }
  compile_and_compare();
}

TEST_F(EmittedIndices, OfCutesVectors) {
  for (const auto& one : vectors::cases_of("index_table")) {
    const Layout layout = vectors::layout_from(one["in"]["layout"]);
    std::int64_t i = 0;
    for (const std::int64_t value : one["out"]) ASSERT_EQ(layout(i++), value) << one.dump();
    add(layout);
  }
  int swizzled = 0;
  for (const auto& one : vectors::cases_of("swizzle")) {
    if (one["in"]["fn"] != "table") continue;
    const ComposedLayout layout =
        parse_composed_layout(one["out"]["layout"]["text"].get<std::string>());
    std::int64_t i = 0;
    for (const std::int64_t value : one["out"]["table"])
      ASSERT_EQ(layout(i++), value) << one.dump();
    add(layout);
    ++swizzled;
  }
  EXPECT_GT(swizzled, 10);
  compile_and_compare();
}

}  // namespace
}  // namespace tilejit
