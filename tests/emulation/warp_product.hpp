// The instructions of matrix products, for the CPU: asynchronous copies that happen when their
// thread has waited for them, no earlier; loads of 8 x 8 matrices; and mma.sync, whose lanes put
// their registers together. Included by the texts of emulated kernels, behind device.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <vector>

namespace emulation {

/// The block's dynamic shared memory.
alignas(1024) inline unsigned char memory[232448];

inline unsigned shared_address(const void* p) {
  return static_cast<unsigned>(static_cast<const unsigned char*>(p) - memory);
}

struct Copy {
  unsigned to;
  const void* from;
  unsigned bytes, valid;
};
/// Groups of copies by thread. The last one is not committed.
inline std::map<std::size_t, std::deque<std::vector<Copy>>> copies;

inline std::deque<std::vector<Copy>>& own_copies() {
  auto& groups = copies[Block::current_block->current()];
  if (groups.empty()) groups.emplace_back();
  return groups;
}
template <int kBytes>
void async_copy_or_zero(unsigned to, const void* from, unsigned valid) {
  std::memset(memory + to, 0xee, kBytes);  // nothing is known of it until then
  own_copies().back().push_back({to, from, kBytes, valid});
}
inline void async_copy_commit() {
  own_copies().emplace_back();
}
template <int kPending>
void async_copy_wait() {
  auto& groups = own_copies();
  while (groups.size() > kPending + 1) {
    for (const Copy& copy : groups.front()) {
      std::memset(memory + copy.to, 0, copy.bytes);
      std::memcpy(memory + copy.to, copy.from, copy.valid);
    }
    groups.pop_front();
  }
}

template <int kMatrices, bool kTransposed>
void load_matrices(unsigned (&r)[kMatrices], unsigned row) {
  static std::array<unsigned, 1024> rows;
  Block& block = *Block::current_block;
  const std::size_t thread = block.current(), first = thread / 32 * 32, lane = thread % 32;
  rows[thread] = row;
  block.meet_warp();
  for (std::size_t j = 0; j < kMatrices; ++j) {
    std::array<std::uint16_t, 2> pair;
    for (std::size_t i = 0; i < 2; ++i) {
      const std::size_t along = lane % 4 * 2 + i, across = lane / 4;
      const std::size_t of_row = kTransposed ? along : across,
                        column = kTransposed ? across : along;
      std::memcpy(&pair[i], memory + rows[first + 8 * j + of_row] + 2 * column, 2);
    }
    std::memcpy(&r[j], pair.data(), 4);
  }
  block.meet_warp();
}

struct Bf16 {
  std::uint16_t bits;
  operator float() const { return bits_as<float>(static_cast<unsigned>(bits) << 16); }
};

/// Elements of a lane's registers, put where the instruction's layout says.
template <class Element, std::size_t kSize, class Register, std::size_t kRegisters, class Place>
void put(std::array<double, kSize>& matrix, const Register (&r)[kRegisters], Place place) {
  std::array<Element, sizeof r / sizeof(Element)> elements;
  std::memcpy(elements.data(), r, sizeof r);
  for (std::size_t v = 0; v < elements.size(); ++v) {
    matrix[static_cast<std::size_t>(place(static_cast<int>(v)))] = static_cast<double>(elements[v]);
  }
}

template <class Mma, class ElementA, class ElementB>
void multiply(typename Mma::C (&d)[Mma::kC], const typename Mma::A (&a)[Mma::kA],
              const typename Mma::B (&b)[Mma::kB], const typename Mma::C (&c)[Mma::kC]) {
  struct Operands {
    std::array<double, Mma::kM * Mma::kK> a;
    std::array<double, Mma::kN * Mma::kK> b;
  };
  static std::array<Operands, 32> of_warps;
  Block& block = *Block::current_block;
  const int lane = static_cast<int>(block.current() % 32);
  auto& [all_a, all_b] = of_warps[block.current() / 32];
  put<ElementA>(all_a, a,
                [&](int v) { return Mma::row_a(lane, v) * Mma::kK + Mma::column_a(lane, v); });
  put<ElementB>(all_b, b,
                [&](int v) { return Mma::row_b(lane, v) * Mma::kK + Mma::column_b(lane, v); });
  block.meet_warp();
  for (int i = 0; i < Mma::kC; ++i) {
    const int row = Mma::row_c(lane, i), column = Mma::column_c(lane, i);
    typename Mma::C sum = c[i];
    for (int k = 0; k < Mma::kK; ++k) {
      sum += static_cast<typename Mma::C>(all_a[static_cast<std::size_t>(row * Mma::kK + k)]) *
             static_cast<typename Mma::C>(all_b[static_cast<std::size_t>(column * Mma::kK + k)]);
    }
    d[i] = sum;
  }
  block.meet_warp();
}

}  // namespace emulation
