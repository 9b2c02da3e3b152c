#include "device/device.hpp"

#include <gtest/gtest.h>

namespace tilejit::device {
namespace {

TEST(Devices, StandForTheirTargets) {
  EXPECT_STREQ(device_of(parse_target("sm_90a")).name, "H100 SXM 80GB");
  EXPECT_STREQ(device_of(parse_target("sm_103a")).name, "HGX B200");
  EXPECT_STREQ(device_of(parse_target("sm_75")).name, "T4");
  for (const char* target : {"sm_75", "sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_120a"}) {
    const Device& device = device_of(parse_target(target));
    EXPECT_EQ(device.threads % 1024 % 512, 0) << target;
    EXPECT_GT(device.gigabytes_per_second, 100) << target;
  }
}

}  // namespace
}  // namespace tilejit::device
