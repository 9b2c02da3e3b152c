#include "front/log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <sstream>

namespace tilejit::front {
namespace {

using ::testing::HasSubstr;

TEST(Warn, GoesToTheLoggerOfTheApplication) {
  std::ostringstream text;
  const auto sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(text);
  spdlog::register_logger(std::make_shared<spdlog::logger>("tilejit", sink));
  warn("the folder {is} full");  // braces are text, not a format
  spdlog::drop("tilejit");
  EXPECT_THAT(text.str(), HasSubstr("the folder {is} full"));
  EXPECT_THAT(text.str(), HasSubstr("warning"));
}

TEST(Warn, GoesToStandardErrorElse) {
  ::testing::internal::CaptureStderr();
  warn("nobody registered a logger");
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("nobody registered a logger"));
  EXPECT_EQ(spdlog::get("tilejit"), nullptr);  // the name stays free
}

}  // namespace
}  // namespace tilejit::front
