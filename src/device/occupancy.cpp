#include "device/occupancy.hpp"

#include "core/integer.hpp"

namespace tilejit::device {
namespace {

// CUDA C++ Programming Guide 13.0, "Technical Specifications per Compute Capability": 64 K
// registers per multiprocessor from 7.5 to 12.0. CUDA Occupancy Calculator: units of 256 registers
// per warp, warps spread over four partitions, shared memory in units of 128 bytes (7.5: 256), and
// from 8.0 on 1 KB of each block for the system.
constexpr std::int64_t kRegisters = 65536;
constexpr std::int64_t kRegisterUnit = 256;
constexpr std::int64_t kPartitions = 4;
constexpr std::int64_t kWarp = 32;
constexpr std::int64_t kReservedBytes = 1024;

std::int64_t round_up(std::int64_t value, std::int64_t unit) noexcept {
  return core::ceil_div(value, unit) * unit;
}

std::int64_t blocks_by_registers(const BlockNeeds& needs) noexcept {
  const std::int64_t of_warp = round_up(needs.registers * kWarp, kRegisterUnit);
  const std::int64_t warps = kRegisters / kPartitions / of_warp * kPartitions;
  return warps / core::ceil_div(needs.threads, kWarp);
}

std::int64_t blocks_by_shared_memory(const Device& device, const BlockNeeds& needs) noexcept {
  const bool reserves = device.number >= 80;
  const std::int64_t bytes = needs.shared_bytes + (reserves ? kReservedBytes : 0);
  return device.shared_bytes / round_up(bytes, reserves ? 128 : 256);
}

}  // namespace

Occupancy occupancy_of(const Device& device, const BlockNeeds& needs) noexcept {
  Occupancy occupancy;
  std::int64_t blocks = device.threads / needs.threads;
  const auto bound = [&](std::int64_t most, std::string_view limit) {
    if (most >= blocks) return;
    blocks = most;
    occupancy.limit = limit;
  };
  if (needs.registers > 0) bound(blocks_by_registers(needs), "registers");
  if (needs.shared_bytes > 0) bound(blocks_by_shared_memory(device, needs), "shared memory");
  bound(device.blocks, "blocks");
  occupancy.blocks = static_cast<int>(blocks);
  occupancy.threads = occupancy.blocks * needs.threads;
  occupancy.part = static_cast<double>(occupancy.threads) / device.threads;
  return occupancy;
}

}  // namespace tilejit::device
