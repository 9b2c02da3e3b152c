#include "cuda/includes.hpp"

#include <gtest/gtest.h>

namespace tilejit::cuda {
namespace {

TEST(Includes, AreFoundWithTheirLines) {
  const auto found = find_includes(
      "#include \"a.cuh\"\n"
      "  #  include <b/c.cuh>  // why\n"
      "// #include \"comment.cuh\"\n"
      "/* #include \"comment.cuh\"\n"
      "#include \"comment.cuh\" */ #include \"d.cuh\"\n"
      "#define X \"x.cuh\"\n"
      "#include X\n"
      "#includes \"no.cuh\n"
      "#include /* why */ \"e.cuh\"");
  const std::vector<Include> want = {{.name = "a.cuh", .line = 1},
                                     {.name = "b/c.cuh", .quoted = false, .line = 2},
                                     {.name = "d.cuh", .line = 5},
                                     {.name = "e.cuh", .line = 9}};
  EXPECT_EQ(found, want);
}

TEST(Includes, InsideConditionsMayNotBeRead) {
  const auto found = find_includes(
      "#ifdef HOST\n#include \"host.h\"\n#else\n#include \"device.h\"\n#endif\n#include "
      "\"both.h\"\n");
  ASSERT_EQ(found.size(), 3u);
  EXPECT_TRUE(found[0].conditional);
  EXPECT_TRUE(found[1].conditional);
  EXPECT_FALSE(found[2].conditional);
}

}  // namespace
}  // namespace tilejit::cuda
