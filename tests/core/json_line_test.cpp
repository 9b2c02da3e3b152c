#include "core/json_line.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace tilejit::core {
namespace {

TEST(JsonLine, SeparatesMembersAndValues) {
  JsonLine line;
  line.open('{').member("name", "add").member("count", -3).key("list").open('[');
  line.value("a").open('[').close(']').raw("true").open('{').member("x", 1).close('}').close(']');
  const std::string text = line.key("empty").open('{').close('}').close('}').take();
  EXPECT_EQ(text, R"({"name":"add","count":-3,"list":["a",[],true,{"x":1}],"empty":{}})");
  EXPECT_EQ(nlohmann::ordered_json::parse(text).dump(), text);
}

}  // namespace
}  // namespace tilejit::core
