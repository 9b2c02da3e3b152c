// Explanations of the golden specs, byte for byte. TILEJIT_UPDATE_GOLDEN=1 rewrites them; review
// the diff.
#include "tilejit/explain.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/source_dir.hpp"

namespace tilejit {
namespace {

namespace fs = std::filesystem;

const fs::path kGolden = test::source_dir() / "tests/golden";

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Fused golden_op(const std::string& name) {
  return parse_fused(read(kGolden / (name + ".spec.json")));
}

class ExplainedGolden : public testing::TestWithParam<const char*> {};

TEST_P(ExplainedGolden, IsTheText) {
  const std::string got = explain_plan(golden_op(GetParam()), parse_target("sm_90a"));
  const fs::path path = kGolden / "explain" / (std::string(GetParam()) + ".txt");
  if (std::getenv("TILEJIT_UPDATE_GOLDEN") != nullptr) {
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << got;
  }
  EXPECT_EQ(got, read(path)) << path;
}

INSTANTIATE_TEST_SUITE_P(Specs, ExplainedGolden,
                         testing::Values("add_contiguous", "transpose_ragged", "softmax_rows",
                                         "layernorm_clusters", "sum_columns", "scan_shared",
                                         "cast_f8", "bias_symbolic", "tv_copy", "wide_strided"),
                         [](const auto& info) { return std::string(info.param); });

TEST(Explained, SaysWhatTheCompilerFound) {
  const Fused op = golden_op("add_contiguous");
  const Target target = parse_target("sm_90a");
  EXPECT_THAT(explain_plan(op, target), testing::HasSubstr("Not known: the kernel has not been"));
  const std::string spilled =
      explain_plan(op, target, KernelResources{.registers = 64, .spill_bytes = 48});
  EXPECT_THAT(spilled, testing::HasSubstr("64 registers a thread, and 48 bytes spilled"));
  EXPECT_THAT(spilled, testing::HasSubstr("registers are spilled"));
  EXPECT_THAT(spilled, testing::HasSubstr("50 % of its 2048 threads"));
}

TEST(Explained, IsTheSameAsJson) {
  const Fused op = golden_op("softmax_rows");
  const auto json = nlohmann::json::parse(
      explain_plan_json(op, parse_target("sm_90a"), KernelResources{.registers = 32}));
  EXPECT_EQ(json["template"], "fused_rows");
  EXPECT_EQ(json["resources"]["registers"], 32);
  EXPECT_GT(json["operations"], 0);
  EXPECT_GT(json["bytes_in_flight_needed"], 0);
  EXPECT_EQ(json["topics"]["registers"][0], "32 registers a thread, no spills.");
  EXPECT_TRUE(json["advice"].is_array());
  EXPECT_EQ(json["occupancy"]["threads"].get<int>() % 32, 0);
}

nlohmann::json explained(const Fused& op) {
  return nlohmann::json::parse(
      explain_plan_json(op, parse_target("sm_90a"), KernelResources{.registers = 32}));
}

TEST(Explained, SaysWhatOfProductsGoesThroughMemory) {
  const Fused op{.name = "low_rank",
                 .tensors = {{"x", bf16, "(64,256)"},
                             {"w", bf16, "(256,192)"},
                             {"a", bf16, "(256,16)"},
                             {"b", bf16, "(16,192)"},
                             {"y", bf16, "(64,192)"}},
                 .formula = "y = x @ w + bf16(x @ a) @ b"};
  const auto json = explained(op);
  const std::string why = json["topics"]["template"].dump();
  EXPECT_THAT(why, testing::HasSubstr("takes 3 steps, with 2 results in memory between them"));
  EXPECT_THAT(why,
              testing::HasSubstr("product0 (64,192) of f32 goes through memory: it is no part "
                                 "of the step that reads it: one kernel computes one product"));
  EXPECT_THAT(why, testing::HasSubstr("operand1 (64,16) of bf16 goes through memory: the left "
                                      "operand of a product is computed"));
  EXPECT_TRUE(json["topics"].contains("part 2"));
  EXPECT_EQ(json["operations"], 2 * 64 * (256 * 192 + 256 * 16 + 16 * 192) + 64 * 192);
}

TEST(Explained, NamesProductsThatACastWouldSendToTensorCores) {
  Fused op{.name = "linear",
           .tensors = {{"x", f32, "(64,256)"}, {"w", f32, "(256,192)"}, {"y", f32, "(64,192)"}},
           .formula = "y = x @ w"};
  const auto in_f32 = explained(op);
  EXPECT_THAT(
      in_f32["advice"].dump(),
      testing::HasSubstr("For tensor cores cast both operands of the product (64,192), x by "
                         "w, to tf32, bf16 or f16"));
  EXPECT_EQ(in_f32["topics"]["registers"][0], "32 registers a thread, no spills.")
      << "one kernel is explained as such";
  op.formula = "y = tf32(x) @ tf32(w)";
  EXPECT_THAT(explained(op)["advice"].dump(), testing::Not(testing::HasSubstr("tensor cores")));
}

TEST(Explained, ResourcesComeFromMetadata) {
  Artifact artifact;
  artifact.metadata = std::make_shared<const std::string>(
      R"({"registers": 24, "spill_bytes": 8, "shared_bytes": 4096})");
  const auto resources = resources_of(artifact);
  ASSERT_TRUE(resources);
  EXPECT_EQ(resources->registers, 24);
  EXPECT_EQ(resources->spill_bytes, 8);
  EXPECT_EQ(resources->static_shared_bytes, 4096);
  artifact.metadata = std::make_shared<const std::string>("{}");
  EXPECT_FALSE(resources_of(artifact));
}

}  // namespace
}  // namespace tilejit
