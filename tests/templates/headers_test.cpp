// The headers of the device library, for callers that take one of them, or several in any order.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "templates/nvrtc.hpp"
#include "templates/templates.hpp"

namespace tilejit {
namespace {

std::string include(const templates::Template& header) {
  return "#include \"" + std::string(header.name) + "\"\n";
}

void expect_compiles(const std::string& text, const std::string& target) {
  compile::Request request;
  request.source = {"headers.cu", text + "extern \"C\" __global__ void k() {}\n", {}};
  for (const templates::Template& file : templates::tile_library()) {
    request.source.headers.emplace_back(file.name, file.text);
  }
  request.target = target;
  EXPECT_NO_THROW((void)test::nvrtc().compile(request)) << text;
}

// Uses what headers only declare for each other. (u8: the compiler finds its functions by no
// argument's namespace.)
constexpr const char* kUses = R"(
__global__ void uses(tile::u8* p, const tile::u8* end, tile::u32 exists) {
  tile::Packed<tile::u8, 16> x, y;
  tile::Contiguous<float, 4> z;
  tile::load_peeled<3>(x, p, end, exists);
  tile::load_split<4>(y, p + 16, 16);
  tile::store_peeled(p, x, exists);
  tile::store_shifted(p, y);
  tile::load_chunk<1>(z, reinterpret_cast<const float*>(p), reinterpret_cast<const float*>(end));
  tile::store_wide(reinterpret_cast<float*>(p), z);
  __shared__ __align__(16) tile::u8 run[64];
  tile::Run<tile::u8, 64, 2> chunks;
  chunks.load(p, 63);
  chunks.store(run, p, 63);
  tile::store_run<64, 2>(p, run, 63);
}
)";

/// Whether the target has what the header is for; others get an error that says so.
bool exists(const templates::Template& header, const std::string& target) {
  static const std::set<std::string_view> kOfHopper = {"tile/attention_producer.cuh",
                                                       "tile/attention_rings.cuh",
                                                       "tile/odd_values.cuh",
                                                       "tile/key_blocks.cuh",
                                                       "tile/mbarrier.cuh",
                                                       "tile/pipeline.cuh",
                                                       "tile/roles.cuh",
                                                       "tile/split_sums.cuh",
                                                       "tile/tensor_map.cuh",
                                                       "tile/warpgroup_producer.cuh"};
  if (header.name == "tile/wgmma.cuh" || header.name == "tile/warpgroup_matmul.cuh" ||
      header.name == "tile/warpgroup_attention.cuh")
    return target == "sm_90a";
  return target.back() == 'a' || !kOfHopper.contains(header.name);  // sm_90a and later
}

class TileLibrary : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Targets, TileLibrary,
                         testing::Values("sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_120a"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(TileLibrary, EveryHeaderCompilesAlone) {
  for (const templates::Template& header : templates::tile_library()) {
    if (exists(header, GetParam())) expect_compiles(include(header), GetParam());
  }
}

TEST_P(TileLibrary, HeadersCompileInAnyOrder) {
  std::vector<std::string> lines;
  for (const templates::Template& header : templates::tile_library()) {
    if (exists(header, GetParam())) lines.push_back(include(header));
  }
  ASSERT_GE(lines.size(), 25u);
  for (int order = 0; order < 2; ++order) {
    std::string text;
    for (const std::string& line : lines) text += line;
    text += kUses;
    // All names are in the library's namespace, so these are free.
    text += "enum { i32, f16, math, Contiguous, Packed, transpose, divide, reduce };\n";
    expect_compiles(text, GetParam());
    std::ranges::reverse(lines);
  }
}

}  // namespace
}  // namespace tilejit
