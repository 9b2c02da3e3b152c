#pragma once

namespace tilejit::device {

// The units of accesses to memory, in bytes. They are the same on every target.

inline constexpr int kWidestAccess = 16;  ///< of a thread at once
inline constexpr int kSectorBytes = 32;
inline constexpr int kBurstBytes = 64;  ///< that memory reads or writes at once
inline constexpr int kLineBytes = 128;
inline constexpr int kBankBytes = 4;     ///< of shared memory
inline constexpr int kLargeElement = 4;  ///< as large as a register

}  // namespace tilejit::device
