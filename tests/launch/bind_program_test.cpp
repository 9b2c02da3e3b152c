// BindProgram's short path to a kernel's parameters, against the Binder.
#include "launch/bind_program.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "fake/hand_plans.hpp"
#include "formula/analysis.hpp"
#include "launch/binder.hpp"
#include "plan/plan.hpp"
#include "tilejit/target.hpp"

namespace tilejit::launch {
namespace {

constexpr std::int64_t kMostOfGrid = 0x7fffffff;

/// A tensor given at run time.
struct QuickArgument {
  std::vector<std::int64_t> shape, stride;
  std::uintptr_t address = 0;
  DType dtype = f32;
};

/// Aligned tensors far from each other, unless an address is given; then scalars.
std::vector<Argument> arguments(const std::vector<QuickArgument>& tensors,
                                const std::vector<Argument>& scalars = {}) {
  std::vector<Argument> args;
  std::uintptr_t address = 0;
  for (const QuickArgument& one : tensors) {
    address += std::uintptr_t{1} << 40;
    args.emplace_back(one.dtype, on_device(one.address == 0 ? address : one.address), one.shape,
                      one.stride);
  }
  args.insert(args.end(), scalars.begin(), scalars.end());
  return args;
}

/// What a Dispatcher stores for a kind of tensors, without a kernel.
class Kind {
 public:
  Kind(Fused op, std::span<const Argument> args) : specializer_(std::move(op), 4) {
    TensorKinds kinds;
    TensorSizes sizes;
    specializer_.classify(args, kinds, sizes);
    hash_ = kinds.hash();
    const Fused described = *specializer_.descriptor(kinds).fused();
    const formula::Analysis analysis = formula::analyze(described);
    plan_ = plan::make_plan(described, analysis, parse_target("sm_90a"));
    binder_ = std::make_unique<Binder>(plan_.signature, plan::launch_plan(plan_));
    program_ = BindProgram::of_kind(*binder_, args, kMostOfGrid);
  }

  [[nodiscard]] bool is_quick() const { return program_.has_value(); }
  [[nodiscard]] const plan::Plan& plan() const { return plan_; }
  [[nodiscard]] const Binder& binder() const { return *binder_; }

  /// The blocks, and the bytes of each field.
  struct Bound {
    std::uint32_t blocks = 0;
    std::vector<std::string> fields = {};
    bool operator==(const Bound&) const = default;
  };
  [[nodiscard]] Bound quickly(std::span<const Argument> args) const {
    TensorKinds kinds;
    TensorSizes sizes;
    specializer_.classify(args, kinds, sizes);
    EXPECT_EQ(kinds.hash(), hash_) << "not of this kind";
    std::array<std::byte, BindProgram::kMaxParamBytes> params;
    const std::uint32_t blocks = program_->bind(args, sizes, params);
    return blocks == 0 ? Bound() : bound(blocks, params.data());
  }
  [[nodiscard]] Bound carefully(std::span<const Argument> args) const {
    std::array<std::byte, kMaxParamBytes> params;
    const Grid grid = bind_one(*binder_, args, nullptr, params);
    EXPECT_FALSE(grid.wide);
    return bound(grid.blocks, params.data());
  }

 private:
  [[nodiscard]] Bound bound(std::uint32_t blocks, const std::byte* params) const {
    return {blocks, fields_of(plan_, params)};
  }

  Specializer specializer_;
  std::uint64_t hash_ = 0;
  plan::Plan plan_;
  std::unique_ptr<Binder> binder_;
  std::optional<BindProgram> program_;
};

Fused binary(const std::string& formula) {
  return {.name = "op", .tensors = {{.name = "x"}, {.name = "y"}}, .formula = formula};
}

Fused add(std::vector<Scalar> scalars = {}) {
  return {.name = "add",
          .tensors = {{.name = "a"}, {.name = "b"}, {.name = "c"}},
          .scalars = std::move(scalars),
          .formula = "c = a + b"};
}

/// Extents of one kind, all greater than the known ones.
struct Random {
  std::mt19937 engine{1};
  std::int64_t operator()(std::int64_t least, std::int64_t multiple) {
    return (least + static_cast<std::int64_t>(engine() % 60)) * multiple;
  }
};

TEST(BindProgram, WritesWhatTheBinderWrites) {
  Random random;
  std::int64_t m = 0, n = 0, k = 0;
  const struct {
    const char* what;
    Fused op;
    std::function<std::vector<QuickArgument>()> tensors;
  } kRows[] = {
      {"contiguous", add(),
       [&] {
         return std::vector<QuickArgument>(3, {{m, n}, {n, 1}});
       }},
      {"transposed, in tiles", add(),
       [&] {
         return std::vector<QuickArgument>{{{m, n}, {n, 1}}, {{m, n}, {1, m}}, {{m, n}, {n, 1}}};
       }},
      {"a pitch", add(),
       [&] {
         return std::vector<QuickArgument>{
             {{m, n}, {n + 4, 1}}, {{m, n}, {n, 1}}, {{m, n}, {2 * n, 1}}};
       }},
      {"a row, broadcast", add(),
       [&] {
         return std::vector<QuickArgument>{
             {{k, m, n}, {m * n, n, 1}}, {{n}, {1}}, {{k, m, n}, {m * n, n, 1}}};
       }},
      {"a value, broadcast", binary("y = x + 1"),
       [&] {
         return std::vector<QuickArgument>{{{}, {}}, {{m, n}, {n, 1}}};
       }},
      {"a value of one mode", binary("y = x + 1"),
       [&] {
         return std::vector<QuickArgument>{{{1}, {1}}, {{m, n}, {n, 1}}};
       }},
      {"permuted", binary("y = x"),
       [&] {
         return std::vector<QuickArgument>{{{k, m, n}, {n, k * n, 1}}, {{k, m, n}, {m * n, n, 1}}};
       }},
      {"small extents", binary("y = x * 2"),
       [&] {
         return std::vector<QuickArgument>(2, {{m, 3, n}, {3 * n, n, 1}});
       }},
      {"known altogether", binary("y = x * 2"),
       [&] {
         return std::vector<QuickArgument>(2, {{2, 3}, {3, 1}});
       }},
      {"sums of rows", binary("y = sum(x, axis=1)"),
       [&] {
         return std::vector<QuickArgument>{{{m, n}, {n, 1}}, {{m}, {1}}};
       }},
      {"rows", binary("y = exp(x - max(x)) / sum(exp(x - max(x)))"),
       [&] {
         return std::vector<QuickArgument>(2, {{m, n}, {n, 1}});
       }},
      {"half precision", binary("y = x * 2"),
       [&] {
         return std::vector<QuickArgument>(2, {{m, n}, {n, 1}, 0, f16});
       }},
  };
  for (const auto& row : kRows) {
    SCOPED_TRACE(row.what);
    std::unique_ptr<Kind> kind;
    for (int turn = 0; turn < 20; ++turn) {
      m = random(5, 16), n = random(5, 16), k = random(5, 1);
      const std::vector<QuickArgument> tensors = row.tensors();
      const std::vector<Argument> args = arguments(tensors);
      if (kind == nullptr) kind = std::make_unique<Kind>(row.op, args);
      ASSERT_TRUE(kind->is_quick());
      const Kind::Bound got = kind->quickly(args);
      EXPECT_GT(got.blocks, 0U);
      EXPECT_EQ(got, kind->carefully(args)) << m << ' ' << n << ' ' << k;
    }
  }
}

TEST(BindProgram, StoresScalarsOfEveryKind) {
  Fused op = add({{"p", f32}, {"q", i32}, {"r", f64}, {"s", u8}, {"t", bf16}});
  op.formula = "c = a + b * p + q + f32(r) + s + t";
  const std::vector<QuickArgument> tensors(3, {{64, 32}, {32, 1}});
  const std::vector<Argument> args = arguments(tensors, {1.5, -7, 0.1, 255, 3});
  const Kind kind(op, args);
  EXPECT_GT(kind.quickly(args).blocks, 0U);
  EXPECT_EQ(kind.quickly(args), kind.carefully(args));
  const std::vector<std::vector<Argument>> wrong = {
      {1e300, 1, 1, 1, 1}, {on_device(0x1000), 1, 1, 1, 1}, {1, 1.5, 1, 1, 1}, {1, 1, 1, 256, 1}};
  for (const std::vector<Argument>& scalars : wrong) {
    EXPECT_EQ(kind.quickly(arguments(tensors, scalars)).blocks, 0U);
  }
}

TEST(BindProgram, LeavesToTheBinderWhatIsNotUsual) {
  const QuickArgument usual{{64, 32}, {32, 1}};
  const Kind kind(add(), arguments({usual, usual, usual}));
  EXPECT_GT(kind.quickly(arguments({usual, usual, usual})).blocks, 0U);
  const auto left = [&](const QuickArgument& a, const QuickArgument& b, const QuickArgument& c) {
    return kind.quickly(arguments({a, b, c})).blocks == 0;
  };
  const QuickArgument shorter{{60, 32}, {32, 1}}, none{{0, 32}, {32, 1}},
      negative{{-64, 32}, {32, 1}};
  EXPECT_TRUE(left(usual, shorter, usual)) << "other extents";
  EXPECT_TRUE(left(none, none, none)) << "no elements";
  EXPECT_TRUE(left(negative, negative, negative));
  const std::int64_t many = std::int64_t{1} << 27;
  EXPECT_FALSE(
      left({{many - 1, 32}, {32, 1}}, {{many - 1, 32}, {32, 1}}, {{many - 1, 32}, {32, 1}}));
  EXPECT_FALSE(left({{many, 32}, {32, 1}}, {{many, 32}, {32, 1}}, {{many, 32}, {32, 1}}))
      << "one step less than its extent";
  const QuickArgument larger{{many + 1, 32}, {32, 1}};
  EXPECT_TRUE(left(larger, larger, larger)) << "products might overflow";
  const QuickArgument wide{{many, many}, {many, 1}};
  EXPECT_TRUE(left(wide, wide, wide)) << "too many units";
}

TEST(BindProgram, SeesTensorsThatShareMemory) {
  const std::uintptr_t at = 1 << 20, bytes = 64 * 32 * 4;
  const auto tensor = [](std::uintptr_t address) {
    return QuickArgument{{64, 32}, {32, 1}, address};
  };
  const Kind kind(add(), arguments({tensor(at), tensor(2 * at), tensor(3 * at)}));
  const auto blocks = [&](std::uintptr_t a, std::uintptr_t b, std::uintptr_t c) {
    return kind.quickly(arguments({tensor(a), tensor(b), tensor(c)})).blocks;
  };
  EXPECT_GT(blocks(at, 2 * at, at), 0U) << "in place";
  EXPECT_GT(blocks(at, at, 2 * at), 0U) << "two inputs";
  EXPECT_GT(blocks(at, at, at), 0U);
  EXPECT_GT(blocks(at, 2 * at, at + bytes), 0U) << "side by side";
  EXPECT_GT(blocks(at + bytes, 2 * at, at), 0U);
  EXPECT_EQ(blocks(at, 2 * at, at + bytes - 16), 0U);
  EXPECT_EQ(blocks(at + bytes - 16, 2 * at, at), 0U);
  EXPECT_EQ(blocks(2 * at, at, at + 16), 0U);
}

TEST(BindProgram, LooksCloserWhereAnOutputReplacesAnInputOfAnotherOrder) {
  const std::uintptr_t at = 1 << 20;
  const QuickArgument rows{{64, 64}, {64, 1}, at}, columns{{64, 64}, {1, 64}, at};
  const Kind kind(binary("y = x"), arguments({rows, columns}));
  EXPECT_EQ(kind.quickly(arguments({rows, columns})).blocks, 0U);
  const QuickArgument apart{{64, 64}, {1, 64}, 2 * at};
  EXPECT_GT(kind.quickly(arguments({rows, apart})).blocks, 0U);
}

TEST(BindProgram, KnowsNullPointers) {
  const std::vector<QuickArgument> tensors(3, {{64, 32}, {32, 1}});
  std::vector<Argument> args = arguments(tensors);
  const Kind kind(add(), args);
  args[1].address = 0;
  EXPECT_EQ(kind.quickly(args).blocks, 0U);
}

}  // namespace
}  // namespace tilejit::launch
