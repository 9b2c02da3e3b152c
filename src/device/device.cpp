#include "device/device.hpp"

#include <algorithm>
#include <array>

namespace tilejit::device {
namespace {

constexpr int kKiB = 1024;

// Names, multiprocessors, clocks and bandwidths: NVIDIA's data sheets, compared with other
// publications.
// - H100 SXM: 132 multiprocessors of 128 lanes at 1.98 GHz, which give the sheet's 67 TFLOP/s of
//   f32; 3.35 TB/s.
// - H200 SXM: as H100; 4.8 TB/s.
// - HGX B200: 148 multiprocessors of 128 lanes at 1.97 GHz, 75 TFLOP/s of f32; 7.7 TB/s.
// - L40S: 142, 2.52 GHz, 864 GB/s.
// - RTX PRO 6000 Blackwell: 188, 2.6 GHz, 1792 GB/s.
//
// What copies reach: measured on H100 (3.02 TB/s) and H200 (4.15 TB/s), else 88 % of the sheet's.
//
// The rest: CUDA C++ Programming Guide 13.0, "Arithmetic Instructions" (throughput of 32- and
// 64-bit floating-point multiply-add and of rcp, rsqrt, ex2, lg2, sin, cos) and "Technical
// Specifications per Compute Capability". For 12.0 the guide says 24 blocks and 100 KB, as devices
// report; the Blackwell Tuning Guide says 32 and 128.
constexpr std::array<Device, 8> kDevices = {{
    {75, "T4", 40, 1.59, 320, 282, 64, 2, 16, 1024, 16, 64 * kKiB},
    {80, "A100 SXM 80GB", 108, 1.41, 2039, 1794, 64, 32, 16, 2048, 32, 164 * kKiB},
    {86, "A40", 84, 1.74, 696, 612, 128, 2, 16, 1536, 16, 100 * kKiB},
    {89, "L40S", 142, 2.52, 864, 760, 128, 2, 16, 1536, 24, 100 * kKiB},
    {90, "H100 SXM 80GB", 132, 1.98, 3350, 3020, 128, 64, 16, 2048, 32, 228 * kKiB},
    {90, "H200", 132, 1.98, 4800, 4150, 128, 64, 16, 2048, 32, 228 * kKiB},
    {100, "HGX B200", 148, 1.97, 7700, 6776, 128, 64, 16, 2048, 32, 228 * kKiB},
    {120, "RTX PRO 6000 Blackwell", 188, 2.6, 1792, 1577, 128, 2, 16, 1536, 24, 100 * kKiB},
}};

// Cycles that one thread waits per step when it follows pointers. An assumption: microbenchmarks
// find 400 to 700, depending on device and method. Table 3 of PMC10448217 says about 400 for V100,
// A100 and H100. Others: arXiv:1903.07486 (T4), arXiv:2402.13499 (A100, H100, RTX 4090) and
// arXiv:2507.10789 (H100).
constexpr double kLatencyCycles = 600;

}  // namespace

double Device::latency_ns() const noexcept {
  return kLatencyCycles / gigahertz;
}

const Device& device_of(const Target& target) noexcept {
  const Device* found = &kDevices.front();
  for (const Device& device : kDevices) {
    if (device.number > found->number && device.number <= target.number()) found = &device;
  }
  return *found;
}

std::span<const Device> devices_of(const Target& target) noexcept {
  const Device& first = device_of(target);
  const auto count = std::ranges::count(kDevices, first.number, &Device::number);
  return std::span(&first, static_cast<std::size_t>(count));
}

}  // namespace tilejit::device
