#include "core/json_pointer.hpp"

#include <gtest/gtest.h>

namespace tilejit {
namespace {

TEST(JsonPointer, EscapesAsRfc6901) {
  EXPECT_EQ(core::pointer_to("", "a"), "/a");
  EXPECT_EQ(core::pointer_to("/tensors", "a/b~c"), "/tensors/a~1b~0c");
  EXPECT_EQ(core::pointer_to("/x", std::string(200, 'a')), "/x/" + std::string(80, 'a'));
}

}  // namespace
}  // namespace tilejit
