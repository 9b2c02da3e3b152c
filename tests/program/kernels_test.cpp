// Kernels of tile programs: their distributions, text and machine code. tests/emulation and
// tests/gpu run them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "compile/nvrtc.hpp"
#include "program/distribution.hpp"
#include "program/example.hpp"
#include "program/kernel_plan.hpp"
#include "program/shared_layout.hpp"
#include "support/program_case.hpp"
#include "support/source_dir.hpp"
#include "tilejit/compiler.hpp"
#include "tilejit/tune.hpp"
#include "tilejit/tv.hpp"

namespace tilejit::program {
namespace {

KernelPlan plan_of(const std::string& text, const char* target = "sm_90a") {
  return make_plan(std::make_shared<const TileProgram>(parse_program(text)), {},
                   parse_target(target));
}

const Distribution& spread_of(const KernelPlan& plan, std::string_view name) {
  for (std::size_t i = 0; i < plan.code.tiles.size(); ++i) {
    if (plan.code.tiles[i].name == name && plan.distributions[i]) return *plan.distributions[i];
  }
  throw std::out_of_range(std::string(name));
}

struct SpreadRow {
  Extents shape;
  std::int64_t threads;
  int axis;
  std::int64_t vector;
  const char* text;
};

TEST(Distribution, VectorsThreadsThenValues) {
  const std::vector<SpreadRow> rows = {
      {{1024}, 128, 0, 8, "(1024): (128,8):(8,1)"},
      {{64, 64}, 128, 1, 8, "(64, 64): ((8,16),(8,4)):((8,64),(1,1024))"},
      {{64, 64}, 128, 0, 4, "(64, 64): ((16,8),(4,8)):((256,1),(64,8))"},
      {{3, 5}, 32, 1, 1, "(3, 5): ((8,4),1):((1,8),0)"},  // beyond the tile along both axes
      {{4}, 128, 0, 1, "(4): (4,1):(1,0)"},
      {{1, 1}, 64, 1, 1, "(1, 1): (1,1):(0,0)"},
      {{}, 64, 0, 1, "(): (1,1):(0,0)"}};
  for (const SpreadRow& row : rows) {
    EXPECT_EQ(to_string(spread(row.shape, row.threads, row.axis, row.vector)), row.text);
  }
}

/// Every element of the tile is the place of at least one (thread, value).
TEST(Distribution, ReachesEveryElement) {
  for (const Extents& shape : {Extents{7}, Extents{33, 5}, Extents{1, 70}, Extents{3, 4, 9}}) {
    for (const std::int64_t threads : {32, 96, 256}) {
      for (const std::int64_t vector : {1, 2, 4}) {
        const int axis = static_cast<int>(shape.size()) - 1;
        const Distribution of = spread(shape, threads, axis, vector);
        std::set<Extents> seen;
        for (std::int64_t t = 0; t < of.distinct_threads(); ++t) {
          for (std::int64_t v = 0; v < of.values(); ++v) {
            Extents at(shape.size(), 0);
            std::int64_t rest = t;
            for (const auto& digit : of.of_thread) {
              at[static_cast<std::size_t>(digit.axis)] += rest % digit.extent * digit.step;
              rest /= digit.extent;
            }
            rest = v;
            for (const auto& digit : of.of_value) {
              at[static_cast<std::size_t>(digit.axis)] += rest % digit.extent * digit.step;
              rest /= digit.extent;
            }
            bool inside = true;
            for (std::size_t i = 0; i < at.size(); ++i) inside = inside && at[i] < shape[i];
            if (!inside) continue;
            EXPECT_TRUE(seen.insert(at).second) << to_string(of);
          }
        }
        EXPECT_EQ(static_cast<std::int64_t>(seen.size()), count_of(shape)) << to_string(of);
      }
    }
  }
}

TEST(Distribution, VectorsHaveAPowerOfTwoOfElements) {
  EXPECT_EQ(spread({40, 3}, 64, 0, 1).vector_along(1), 1);   // three values beside each other
  EXPECT_EQ(spread({64, 12}, 64, 0, 1).vector_along(1), 4);  // twelve
  EXPECT_EQ(spread({64, 12}, 64, 1, 1).vector_along(1), 1);  // threads lie beside each other
  EXPECT_EQ(spread({1024}, 128, 0, 8).vector_along(0), 8);
}

TEST(Distribution, OfThreadsAndValuesAsCuTeHasThem) {
  const Layout thr("(4,32):(32,1)"), val("(16,4):(4,1)");
  const Distribution of = of_thread_value(thr, val, 128);
  EXPECT_EQ(to_string(of.shape), "(64, 128)");
  const Layout tv = make_layout_tv(thr, val).layout_tv;  // to the column-major place
  const Layout own = layout_of(of);                      // to the row-major place
  for (std::int64_t t = 0; t < 128; ++t) {
    for (std::int64_t v = 0; v < 64; ++v) {
      const std::int64_t place = tv(Coordinate{t, v});
      EXPECT_EQ(own(Coordinate{t, v}), place % 64 * 128 + place / 64);
    }
  }
}

TEST(Distribution, IsInferred) {
  const KernelPlan plan = plan_of(example("flash_attention.tl"));
  // Sums of a product as mma.sync m16n8k16 has them, and row statistics with their rows.
  EXPECT_EQ(to_string(spread_of(plan, "acc")),
            "(64, 64): ((4,8,4),(2,2,8)):((2,64,1024),(1,512,8))");
  EXPECT_EQ(to_string(spread_of(plan, "m")), "(64, 1): ((4,8,4),2):((0,1,16),8)");
  EXPECT_EQ(spread_of(plan, "l"), spread_of(plan, "m"));
  EXPECT_EQ(spread_of(plan, "P"), spread_of(plan, "S"));
  const KernelPlan pinned = plan_of(
      "Kernel k\nTensor A : f32 [64, 128]\nTensor B : f32 [64, 128] out\n"
      "Copy A (64, 128) at [0, 0] from global to register tv \"(4,32):(32,1)\" \"(16,4):(4,1)\"\n"
      "Compute A = A + 1\nCopy A (64, 128) at [0, 0] from register to global as B\n");
  EXPECT_EQ(spread_of(pinned, "A"), of_thread_value("(4,32):(32,1)", "(16,4):(4,1)", 128));
}

TEST(Distribution, OfFewerThreadsThanPinnedIsRefused) {
  try {
    (void)plan_of(
        "Kernel k\nTensor A : f32 [64, 128]\nTensor B : f32 [64, 128] out\nBlock (64)\n"
        "Copy A (64, 128) at [0, 0] from global to register tv \"(4,32):(32,1)\" \"(16,4):(4,1)\"\n"
        "Copy A (64, 128) at [0, 0] from register to global as B\n");
    ADD_FAILURE() << "planned";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    EXPECT_NE(std::string(error.what()).find("tv has 128 threads, and the block 64"),
              std::string::npos)
        << error.what();
  }
}

TEST(KernelPlan, TuningTriesTheValuesOfConstants) {
  const Operation op = parse_operation(
      "Kernel k\nTensor A : f32 [N]\nTensor B : f32 [N] out\nConstant T = 128\n"
      "Tune T in (128, 512, 4000000)\nGrid (ceil_div(N, T))\n"
      "Copy A (T) in coordinate [block_idx.x] from global to register pad zero\n"
      "Copy A (T) in coordinate [block_idx.x] from register to global as B\n");
  const std::vector<Tuning> tunings = tuning_candidates(op, Target{}, 8);
  ASSERT_EQ(tunings.size(), 2u);  // registers hold no tile of 4,000,000
  EXPECT_EQ(tunings[1].constants.at("T"), "512");
  const KernelPlan tuned =
      make_plan(std::make_shared<const TileProgram>(*tile_program(op)), tunings[1], Target{});
  EXPECT_EQ(to_string(spread_of(tuned, "A")), "(512): (128,4):(4,1)");
  EXPECT_NE(to_json(tuned).find("\"T\":\"512\""), std::string::npos);
}

TEST(KernelPlan, TuningTriesThreadValueLayouts) {
  const Operation op = parse_operation(
      "Kernel k\nTensor A : f32 [M, N]\nTensor B : f32 [M, N] out\nConstant W = 32\n"
      "Tune W in (32, 16, 8, 256)\nGrid (ceil_div(N, 128), ceil_div(M, 64))\n"
      "Copy A (64, 128) in coordinate [block_idx.y, block_idx.x] from global to register pad zero "
      "tv \"(ceil_div(128,W),W):(W,1)\" \"(ceil_div(W,2),ceil_div(128,W)):(ceil_div(128,W),1)\"\n"
      "Copy A (64, 128) in coordinate [block_idx.y, block_idx.x] from register to global as B\n");
  const std::vector<Tuning> tunings = tuning_candidates(op, Target{}, 8);
  ASSERT_EQ(tunings.size(), 3u);  // with 256 the threads and values do not cover the tile
  const auto program = std::make_shared<const TileProgram>(*tile_program(op));
  EXPECT_EQ(spread_of(make_plan(program, tunings[0], Target{}), "A"),
            of_thread_value("(4,32):(32,1)", "(16,4):(4,1)", 128));
  EXPECT_EQ(spread_of(make_plan(program, tunings[2], Target{}), "A"),
            of_thread_value("(16,8):(8,1)", "(4,16):(16,1)", 128));
  EXPECT_EQ(parse_operation(to_json(op)), op);
}

/// Entries are found again by the text of their key (is_entry_of), which has no escapes.
TEST(KernelPlan, JsonHasNoEscapes) {
  const std::string text = to_json(plan_of("Kernel k\nPrint \"a \\\"b\\\" `1 \u00e9\" # c\n"));
  EXPECT_EQ(text.find_first_of("\\\n"), text.npos) << text;
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json["program"].back(), "Print `22a `5c`22b`5c`22 `601 `c3`a9`22") << text;
  EXPECT_NE(to_json(plan_of("Kernel k\nPrint \"x\"\n")),
            to_json(plan_of("Kernel k\nPrint \"y\"\n")));
  // Nothing that the kernel does not depend on.
  const std::string tensors = "Tensor A : f32 [N]\nTensor B : f32 [N] out\n";
  const std::string load = "Copy A (T) at [0] from global to register pad zero";
  const std::string store = "\nCopy A (T) at [0] from register to global as B\n";
  const std::string plain = "Kernel k\n" + tensors + "Constant T = 64\n" + load + store;
  const std::string same = "# A kernel.\nKernel k\nSymbol N example 5\n" + tensors +
                           "Constant T = 64  # a tile\nTune T in (32, 64)\nVerify B = A\n" +
                           "# What it loads.\n" + load + "  # once" + store;
  const std::string other = "Kernel k\n" + tensors + "Constant T = 32\n" + load + store;
  EXPECT_EQ(to_json(plan_of(plain)), to_json(plan_of(same)));
  EXPECT_NE(to_json(plan_of(plain)), to_json(plan_of(other)));
  // The lines of assertions are those of the text as it was written.
  EXPECT_NE(to_json(plan_of("Kernel k\nPrint \"x\"\nAssert block_idx.x == 0\n")),
            to_json(plan_of("Kernel k\nPrint \"x\"\n\n\nAssert block_idx.x == 0\n")));
}

TEST(KernelPlan, LaunchesAKernelForEachZeroedTensorFirst) {
  const KernelPlan plan = plan_of(
      "Kernel k\nTensor A : f32 [N]\nTensor S : f32 [1] out zeroed\nGrid (ceil_div(N, 64))\n"
      "Block (64, 2)\nCopy A (64) in coordinate [block_idx.x] from global to register pad zero\n"
      "Compute ReduceSum A and get s\nAtomic add s (1) at [0] as S\n");
  const operation::LaunchPlan launch = launch_plan(plan);
  ASSERT_EQ(launch.steps.size(), 2u);
  EXPECT_EQ(launch.steps[0].entry, "tilejit_k_zero_S");
  EXPECT_EQ(launch.steps[1].entry, "tilejit_k");
  EXPECT_EQ(launch.steps[1].threads, 128);
  EXPECT_EQ(launch.steps[1].shape->numbers[operation::LaunchShape::shared].evaluate(),
            plan.shared_bytes);
}

TEST(KernelPlan, RefusesWhatNoBlockHas) {
  const auto message = [](const std::string& text) -> std::string {
    try {
      (void)plan_of(text);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unsupported);
      return error.what();
    }
    return "planned";
  };
  EXPECT_NE(
      message("Kernel k\nTensor A : f32 [256, 200]\nTensor B : f32 [200, 256] out\nBlock (1024)\n"
              "Allocate S in shared (128, 200) : f32 = 0\n"
              "Copy A (256, 200) at [0, 0] from global to register\n"
              "Reshape A permute (1, 0) as T\n"
              "Copy T (200, 256) at [0, 0] from register to global as B\n")
          .find("bytes of shared memory for its tiles and for exchanges between threads"),
      std::string::npos);
  std::string many =
      "Kernel k\nTensor A : f32 [64]\nTensor B : f32 [64] out\n"
      "Copy A (64) at [0] from global to register\n";
  for (int i = 0; i < 4000; ++i) many += "Compute A = A + 1\n";
  EXPECT_NE(message(many + "Copy A (64) at [0] from register to global as B\n")
                .find("takes the compiler more than seconds"),
            std::string::npos);
}

TEST(KernelPlan, WarnsOfWhatIsSlow) {
  const std::string text =
      "Kernel k\nTensor A : f16 [M, K]\nTensor B : f16 [K, N]\nTensor C : f32 [M, N] out\n"
      "Allocate acc in register (48, 32) : f32 = 0\n"
      "for k = 0 : ceil_div(K, 32) stages 2\n"
      "  Copy A (48, 32) in coordinate [0, k] from global to shared pad zero\n"
      "  if M > 7\n"
      "    Copy B (32, 32) in coordinate [k, 0] from global to shared pad zero\n"
      "    Compute GEMM A, B and accumulate acc\n"
      "  end\nend\n"
      "Copy acc (48, 32) in coordinate [0, 0] from register to global as C\n";
  const KernelPlan plan = plan_of(text);
  ASSERT_EQ(plan.warnings.size(), 2u);
  EXPECT_NE(plan.warnings[0].find("line 9: the copy to 'B' is waited for"), std::string::npos)
      << plan.warnings[0];
  EXPECT_NE(plan.warnings[1].find("line 10: the product is done by fused multiply-adds"),
            std::string::npos)
      << plan.warnings[1];
  const KernelPlan old = plan_of(text, "sm_75");
  ASSERT_GE(old.warnings.size(), 2u);
  EXPECT_NE(old.warnings[0].find("line 7: the copy to 'A' is waited for"), std::string::npos);
}

TEST(KernelPlan, WarnsOfTypesWithoutAnInstruction) {
  const std::string text =
      "Kernel k\nTensor A : f8e4m3 [64, 64]\nTensor B : f8e5m2 [64, 64]\n"
      "Tensor C : f32 [64, 64] out\n"
      "Allocate acc in register (64, 64) : f32 = 0\n"
      "Copy A (64, 64) at [0, 0] from global to shared\n"
      "Copy B (64, 64) at [0, 0] from global to shared\n"
      "Compute GEMM A, B and accumulate acc\n"
      "Copy acc (64, 64) at [0, 0] from register to global as C\n";
  const KernelPlan plan = plan_of(text, "sm_90a");
  ASSERT_EQ(plan.warnings.size(), 1u);
  EXPECT_EQ(plan.warnings[0],
            "line 8: the product is done by fused multiply-adds; sm_90a has no mma.sync for f8e4m3 "
            "by f8e5m2; for tensor cores cast both tiles to f16, which has all their values");
  EXPECT_EQ(plan_of(text, "sm_89").warnings.size(), 0u);
  // No tensor core takes f32.
  std::string plain = text;
  for (std::size_t at; (at = plain.find("f8e")) != plain.npos;) plain.replace(at, 6, "f32");
  EXPECT_EQ(plan_of(plain, "sm_90a").warnings.size(), 0u);
}

/// Rows by vectors of 16 bytes, as copies and conversions write them, and columns of them, as a
/// transposed tile is read.
TEST(SharedLayout, HasNoBankConflicts) {
  for (const DType dtype : {f16, f32, f64}) {
    const std::int64_t size = size_bytes(dtype);
    const std::int64_t vector = 16 / size;
    for (const Extents& shape : {Extents{64, 128 / size}, Extents{64, 64}, Extents{32, 256},
                                 Extents{64, 32 / size}, Extents{48, 48}, Extents{40, 72}}) {
      const ComposedLayout layout = shared_layout({dtype, shape});
      for (const bool along_rows : {true, false}) {
        // Vectors beside each other first, or below each other first.
        const std::int64_t in_row = shape[1] / vector;
        const std::int64_t across = along_rows ? std::min<std::int64_t>(in_row, 32) : 1;
        if (32 % across != 0) continue;
        const std::int64_t down = 32 / across;
        if (down > shape[0]) continue;
        const Layout tv =
            make_layout({make_layout({Layout(Nested<Mode>(Mode{across, vector * shape[0]})),
                                      Layout(Nested<Mode>(Mode{down, 1}))}),
                         Layout(Nested<Mode>(Mode{vector, shape[0]}))});
        // bank_conflicts counts the tile's elements with the first axis fastest.
        const BankConflicts conflicts = bank_conflicts(tv, layout, 16, static_cast<int>(size));
        EXPECT_TRUE(conflicts.conflict_free())
            << to_string(TileType{dtype, shape}) << (along_rows ? " rows " : " columns ")
            << tilejit::to_string(layout) << ": " << conflicts.wavefronts << " of "
            << conflicts.ideal_wavefronts;
      }
    }
  }
}

std::filesystem::path golden(const std::string& name) {
  return test::source_dir() / "tests" / "golden" / "program" / name;
}

TEST(KernelText, IsAsItWas) {
  for (const char* name : {"vector_add", "softmax", "transpose", "matmul"}) {
    const std::string text = plan_of(example(std::string(name) + ".tl")).text;
    const std::filesystem::path path = golden(std::string(name) + ".cu");
    if (std::getenv("TILEJIT_UPDATE_GOLDEN") != nullptr) {
      std::filesystem::create_directories(path.parent_path());
      std::ofstream(path) << text;
    }
    std::ifstream file(path);
    const std::string known((std::istreambuf_iterator<char>(file)), {});
    EXPECT_EQ(text, known) << path << " differs; TILEJIT_UPDATE_GOLDEN=1 rewrites it";
  }
}

/// Text of strangers reaches the kernel as the inside of a string only.
TEST(KernelText, EscapesWhatItPrints) {
  const std::string text = plan_of("Kernel k\nPrint \"a\\\"; } %s \\\\ {}\", 1\n").text;
  EXPECT_NE(text.find("printf(\"a\\042; \\175 %%s \\134 %lld\\n\", i64(1));"), std::string::npos)
      << text;
}

class Nvrtc : public testing::Test {
 protected:
  void SetUp() override {
    try {
      Options options = Options::from_env();
      options.cache_folder.reset();
      options.tuning_file.reset();
      compiler_ = std::make_unique<Compiler>(options);
      (void)compiler_->compile(parse_operation(example("vector_add.tl")), parse_target("sm_80"));
    } catch (const Error& error) {
      if (error.code() != ErrorCode::no_compiler) throw;
      GTEST_SKIP() << error.what();
    }
  }
  std::unique_ptr<Compiler> compiler_;
};

/// All examples for each target: one is a test, so that they run beside each other.
class NvrtcFor : public Nvrtc, public testing::WithParamInterface<const char*> {};

TEST_P(NvrtcFor, CompilesAllExamplesWithoutSpills) {
  for (const std::string& name : test::program_examples()) {
    SCOPED_TRACE(name + " for " + GetParam());
    const Operation op = parse_operation(example(name + ".tl"));
    const Artifact artifact = compiler_->compile(op, parse_target(GetParam()));
    EXPECT_NE(artifact.metadata->find("\"spill_bytes\": 0,"), std::string::npos)
        << *artifact.metadata;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, NvrtcFor,
                         testing::Values("sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_120a"),
                         [](const auto& target) { return std::string(target.param); });

TEST_F(Nvrtc, CompilesRandomPrograms) {
  test::Random random(7);
  constexpr const char* kTargets[] = {"sm_80", "sm_90a", "sm_120a"};
  for (int i = 0; i < 12; ++i) {
    const test::ProgramCase c = test::random_program_case(random);
    SCOPED_TRACE(c.text);
    EXPECT_NO_THROW(
        (void)compiler_->compile(parse_operation(c.text), parse_target(kTargets[i % 3])));
  }
}

}  // namespace
}  // namespace tilejit::program
