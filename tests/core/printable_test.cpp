#include "tilejit/printable.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tilejit {
namespace {

// Text from entries, tuning files and servers reached logs and terminals with escape sequences, and
// with line breaks that faked lines of the log.
TEST(Printable, ShowsWhatNeitherSteersNorForges) {
  const struct {
    const char* name;
    std::string text, one, several;
  } cases[] = {
      {"empty", "", "", ""},
      {"plain", "add_f16 <\"&'\\>", "add_f16 <\"&'\\>", "add_f16 <\"&'\\>"},
      {"UTF-8", "\u00e9 \u4e2d \U0001f600 \u00a0", "\u00e9 \u4e2d \U0001f600 \u00a0",
       "\u00e9 \u4e2d \U0001f600 \u00a0"},
      {"colours", "\x1b[31mred\x07", "?[31mred?", "?[31mred?"},
      {"lines", "a\nb\tc\rd\x7f", "a b c?d?", "a\nb\tc?d?"},
      {"a NUL", std::string("a\0b", 3), "a?b", "a?b"},
      {"C1 control characters",
       "\xc2\x9b"
       "31m\xc2\x80",
       "?31m?", "?31m?"},
      {"direction of text",
       "\u202e"
       "a\u2066"
       "b\u2028",
       "?a?b?", "?a?b?"},
      {"not UTF-8",
       "a\xff\xfe"
       "b\x80",
       "a??b?", "a??b?"},
      {"a sequence cut short", "a\xe4\xb8", "a??", "a??"},
      {"longer than it needs to be", "\xc0\xaf\xe0\x80\xaf", "?????", "?????"},
      {"a surrogate", "\xed\xa0\x80", "???", "???"},
      {"beyond the last", "\xf4\x90\x80\x80", "????", "????"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(printable(c.text), c.one);
    EXPECT_EQ(printable(c.text, Lines::several), c.several);
    EXPECT_EQ(printable(c.one), c.one);
  }
}

}  // namespace
}  // namespace tilejit
