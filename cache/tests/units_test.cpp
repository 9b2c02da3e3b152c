#include "tilejit/cache/units.hpp"

#include <gtest/gtest.h>

namespace tilejit::cache {
namespace {

TEST(Units, ReadBytes) {
  const struct {
    const char* text;
    std::uint64_t bytes;
  } cases[] = {{"0", 0},           {"500", 500},         {"500B", 500},        {"64K", 65536},
               {"64k", 65536},     {"1.5G", 3ull << 29}, {"4GiB", 4ull << 30}, {"2GB", 2000000000},
               {"1T", 1ull << 40}, {"3MB", 3000000}};
  for (const auto& c : cases) EXPECT_EQ(parse_bytes(c.text), c.bytes) << c.text;
  for (const char* bad : {"", "K", "-1", "+1", "1 G", "1X", "1Gi", "1GiBs", "1e99", "nan", "inf",
                          "0x10", "9e30T", "99999999999999999999"}) {
    EXPECT_FALSE(parse_bytes(bad)) << bad;
  }
}

TEST(Units, ReadAges) {
  const struct {
    const char* text;
    std::int64_t seconds;
  } cases[] = {{"90", 90},       {"90s", 90},     {"30m", 1800}, {"12h", 43200},
               {"30d", 2592000}, {"2w", 1209600}, {"0.5h", 1800}};
  for (const auto& c : cases) EXPECT_EQ(parse_age(c.text)->count(), c.seconds) << c.text;
  for (const char* bad : {"", "d", "-1d", "1y", "1 d", "1dd", "99999999999999999w"}) {
    EXPECT_FALSE(parse_age(bad)) << bad;
  }
}

}  // namespace
}  // namespace tilejit::cache
