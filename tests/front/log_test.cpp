#include "front/log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <algorithm>
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

// Text from a tuning file or a server could fake lines of the log, and control terminals.
TEST(Warn, IsOneLineThatCanBePrinted) {
  ::testing::internal::CaptureStderr();
  warn("the file says \x1b[31mRED\ntilejit: warning: a forged line\x07");
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(text, HasSubstr("?[31mRED tilejit: warning: a forged line?"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
}

TEST(Warn, GoesToStandardErrorElse) {
  ::testing::internal::CaptureStderr();
  warn("nobody registered a logger");
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("nobody registered a logger"));
  EXPECT_EQ(spdlog::get("tilejit"), nullptr);  // the name stays free
}

}  // namespace
}  // namespace tilejit::front
