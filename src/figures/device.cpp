#include "figures/device.hpp"

#include <array>

namespace tilejit::figures {
namespace {

constexpr int kKiB = 1024;

// Names, multiprocessors, clocks and bandwidths: NVIDIA's data sheets of these products. The rest:
// CUDA C++ Programming Guide 13.0, "Arithmetic Instructions" (throughput of 32- and 64-bit
// floating-point multiply-add and of rcp, rsqrt, ex2, lg2, sin, cos) and "Technical Specifications
// per Compute Capability".
constexpr std::array<Device, 7> kDevices = {{
    {75, "T4", 40, 1.59, 320, 64, 2, 16, 1024, 16, 64 * kKiB},
    {80, "A100 SXM 80GB", 108, 1.41, 2039, 64, 32, 16, 2048, 32, 164 * kKiB},
    {86, "A40", 84, 1.74, 696, 128, 2, 16, 1536, 16, 100 * kKiB},
    {89, "L40S", 142, 2.52, 864, 128, 2, 16, 1536, 24, 100 * kKiB},
    {90, "H100 SXM 80GB", 132, 1.98, 3350, 128, 64, 16, 2048, 32, 228 * kKiB},
    {100, "HGX B200", 148, 1.97, 7700, 128, 64, 16, 2048, 32, 228 * kKiB},
    {120, "RTX PRO 6000 Blackwell", 188, 2.6, 1792, 128, 2, 16, 1536, 24, 100 * kKiB},
}};

}  // namespace

const Device& device_of(const Target& target) noexcept {
  const Device* found = &kDevices.front();
  for (const Device& device : kDevices) {
    if (device.number <= target.number()) found = &device;
  }
  return *found;
}

}  // namespace tilejit::figures
