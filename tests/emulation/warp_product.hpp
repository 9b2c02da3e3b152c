// The instructions of matrix products by warps, for the CPU: asynchronous copies that happen when
// their thread has waited for them, no earlier; loads and stores of 8 x 8 matrices; and mma.sync,
// whose lanes put their registers together. Included by the texts of emulated kernels.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>

#include "elements.hpp"
#include "launch.hpp"

namespace emulation {

struct Copy {
  unsigned to;
  const void* from;
  unsigned bytes, valid;
};
/// Groups of copies by thread. The last one is not committed.
inline std::map<std::size_t, std::deque<std::vector<Copy>>> copies;

inline std::deque<std::vector<Copy>>& own_copies() {
  auto& groups = copies[Cluster::running->self()];
  if (groups.empty()) groups.emplace_back();
  return groups;
}
template <int kBytes>
void async_copy_or_zero(unsigned to, const void* from, unsigned valid) {
  std::memset(at_shared(to, kBytes), kUnknown, kBytes);
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
      std::memset(at_shared(copy.to, copy.bytes), 0, copy.bytes);
      std::memcpy(at_shared(copy.to), copy.from, copy.valid);
    }
    groups.pop_front();
  }
}

inline const bool forgets_copies = [] {
  forgetting.push_back([] { copies.clear(); });
  return true;
}();

/// Calls visit(matrix, half of a register, shared address) for a lane's elements of 16 bits. Lane l
/// has given the address of row l % 8 of matrix l / 8.
template <int kMatrices, bool kTransposed, class Visit>
void visit_matrices(unsigned row, const Visit& visit) {
  static std::array<unsigned, kMostBlocks * 1024> rows;
  Cluster& cluster = *Cluster::running;
  const std::size_t thread = cluster.self(), lane = cluster.current() % kWarp;
  if (lane / 8 < kMatrices && row % 16 != 0)
    fail("a row of a matrix that is not aligned in shared memory");
  rows[thread] = row;
  cluster.meet_warp();
  for (std::size_t j = 0; j < kMatrices; ++j) {
    for (std::size_t i = 0; i < 2; ++i) {
      const std::size_t along = lane % 4 * 2 + i, across = lane / 4;
      const std::size_t of_row = kTransposed ? along : across,
                        column = kTransposed ? across : along;
      visit(j, i, rows[thread - lane + 8 * j + of_row] + 2 * static_cast<unsigned>(column));
    }
  }
  cluster.meet_warp();
}
template <int kMatrices, bool kTransposed>
void load_matrices(unsigned (&r)[kMatrices], unsigned row) {
  unsigned loaded[kMatrices] = {};
  visit_matrices<kMatrices, kTransposed>(row, [&](std::size_t j, std::size_t i, unsigned from) {
    loaded[j] |= unsigned{from_shared<std::uint16_t>(from)} << 16 * i;
  });
  std::memcpy(r, loaded, sizeof r);
}
template <int kMatrices, bool kTransposed>
void store_matrices(unsigned row, const unsigned (&r)[kMatrices]) {
  visit_matrices<kMatrices, kTransposed>(row, [&](std::size_t j, std::size_t i, unsigned to) {
    to_shared(to, static_cast<std::uint16_t>(r[j] >> 16 * i));
  });
}

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
  Cluster& cluster = *Cluster::running;
  const int lane = static_cast<int>(cluster.current() % kWarp);
  auto& [all_a, all_b] = of_warps[cluster.warp()];
  put<ElementA>(all_a, a,
                [&](int v) { return Mma::row_a(lane, v) * Mma::kK + Mma::column_a(lane, v); });
  put<ElementB>(all_b, b,
                [&](int v) { return Mma::row_b(lane, v) * Mma::kK + Mma::column_b(lane, v); });
  cluster.meet_warp();
  for (int i = 0; i < Mma::kC; ++i) {
    const int row = Mma::row_c(lane, i), column = Mma::column_c(lane, i);
    typename Mma::C sum = c[i];
    for (int k = 0; k < Mma::kK; ++k) {
      sum += static_cast<typename Mma::C>(all_a[static_cast<std::size_t>(row * Mma::kK + k)]) *
             static_cast<typename Mma::C>(all_b[static_cast<std::size_t>(column * Mma::kK + k)]);
    }
    d[i] = sum;
  }
  cluster.meet_warp();
}

}  // namespace emulation
