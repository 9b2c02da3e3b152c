// Products of warpgroups (PTX ISA, "wgmma"), for the CPU. They read the operands in shared memory
// and in A's registers at a random time between the moment that all threads of the warpgroup have
// come to them and the wait that retires them. The sums' registers mean nothing until then.
#pragma once

#include <array>
#include <deque>

#include "../elements.hpp"
#include "matrix_descriptor.hpp"

namespace emulation {

using Floats [[gnu::vector_size(16)]] = float;
using Ints [[gnu::vector_size(16)]] = int;

inline constexpr std::size_t kWarpgroup = 128;

/// Sums of a warpgroup's products that are in flight: those of thread t at [t * count].
struct Sums {
  std::vector<unsigned> words;
  std::array<void*, kWarpgroup> at = {};  // each thread's registers
  int products = 0;                       // that are in flight
};
struct Product {
  std::shared_ptr<Sums> sums;
  std::array<const void*, kWarpgroup> a_registers = {};
  std::uint64_t a = 0, b = 0;
  unsigned threads = 0;  // that have come
  unsigned block = 0;    // an address: where the descriptors' addresses lie
  bool begins = false, clears = false;
  void (*compute)(const Product&) = nullptr;
};
/// What a warpgroup has in flight.
struct Products {
  std::deque<Product> all;
  std::size_t first = 0, computed = 0;  // number of the first one; of the next to compute
  std::vector<std::size_t> groups;      // number after the last of each group
  std::array<std::size_t, kWarpgroup> issued = {}, committed = {};  // by thread
  std::array<bool, kWarpgroup> fenced = {};
};
inline std::map<std::size_t, Products> products_of_warpgroups;

inline Products& own_products() {
  return products_of_warpgroups[Cluster::running->warp() / 4];
}
inline std::size_t own_place() {
  return Cluster::running->current() % kWarpgroup;
}

/// Computes the next one, if all threads have come to it.
inline bool compute_next(Products& own) {
  const std::size_t next = own.computed - own.first;
  if (next >= own.all.size() || own.all[next].threads < kWarpgroup) return false;
  own.all[next].compute(own.all[next]);
  ++own.computed;
  return true;
}

/// One operand as rows of K, or columns of it: element (mn, k) at [k * kMn + mn].
template <class Element, unsigned kMn, unsigned kK, class Value>
void take_operand(Value* to, const MatrixDescriptor& from, Major major) {
  constexpr unsigned kOfChunk = 16 / sizeof(Element);
  const unsigned across = major == Major::k ? kMn : kK, along = major == Major::k ? kK : kMn;
  for (unsigned i = 0; i < across; ++i) {
    for (unsigned j = 0; j < along; j += kOfChunk) {
      const unsigned mn = major == Major::k ? i : j, k = major == Major::k ? j : i;
      Element elements[kOfChunk];
      std::memcpy(elements, at_shared(from.place(major, mn, k, sizeof(Element)), 16), 16);
      for (unsigned e = 0; e < kOfChunk; ++e) {
        const unsigned at = major == Major::k ? (k + e) * kMn + mn : k * kMn + mn + e;
        to[at] = static_cast<Value>(elements[e]);
      }
    }
  }
}

template <class Mma, class ElementA, class ElementB, Major kMajorA, Major kMajorB,
          bool kFromRegisters>
void compute_product(const Product& product) {
  using Value = typename Mma::C;
  using Values = std::conditional_t<std::is_same_v<Value, float>, Floats, Ints>;
  constexpr unsigned kM = Mma::kM, kN = Mma::kN, kK = Mma::kK;
  static_assert(sizeof(Value) == 4 && kN % 4 == 0);
  alignas(16) static Value a[kM * kK], b[kN * kK], d[kM * kN];
  take_operand<ElementB, kN, kK>(b, {product.b, product.block}, kMajorB);
  if constexpr (kFromRegisters) {
    for (int thread = 0; thread < int{kWarpgroup}; ++thread) {
      ElementA elements[Mma::kA * 4 / sizeof(ElementA)];
      std::memcpy(elements, product.a_registers[thread], sizeof elements);
      for (int v = 0; v < static_cast<int>(sizeof elements / sizeof(ElementA)); ++v) {
        a[Mma::column_a(thread, v) * kM + Mma::row_a(thread, v)] = static_cast<Value>(elements[v]);
      }
    }
  } else {
    take_operand<ElementA, kM, kK>(a, {product.a, product.block}, kMajorA);
  }
  Value* const words = reinterpret_cast<Value*>(product.sums->words.data());
  const auto place = [](int thread, int i) {
    return Mma::row_c(thread, i) * kN + Mma::column_c(thread, i);
  };
  for (int i = 0; i < int{kWarpgroup} * Mma::kC; ++i) {
    d[place(i / Mma::kC, i % Mma::kC)] = product.clears ? Value(0) : words[i];
  }
  for (unsigned row = 0; row < kM; ++row) {
    Values* const sums = reinterpret_cast<Values*>(d + row * kN);
    for (unsigned k = 0; k < kK; ++k) {
      const Value one = a[k * kM + row];
      const Values factor = {one, one, one, one};
      const Values* const of_b = reinterpret_cast<const Values*>(b + k * kN);
      for (unsigned n = 0; n < kN / 4; ++n) sums[n] += factor * of_b[n];
    }
  }
  for (int i = 0; i < int{kWarpgroup} * Mma::kC; ++i) {
    words[i] = d[place(i / Mma::kC, i % Mma::kC)];
  }
}

/// The product that a thread comes to now; those of a warpgroup come to the same ones.
template <class Mma>
Product& join_product(typename Mma::C* d) {
  Products& own = own_products();
  const std::size_t thread = own_place(), number = own.issued[thread]++;
  if (number - own.first == own.all.size()) {
    Product made;
    for (const Product& other : own.all) {
      if (other.sums->at[thread] == d) made.sums = other.sums;
    }
    made.begins = made.sums == nullptr;
    if (made.begins) {
      made.sums = std::make_shared<Sums>();
      made.sums->words.resize(kWarpgroup * Mma::kC);
    }
    ++made.sums->products;
    own.all.push_back(made);
  }
  Product& product = own.all[number - own.first];
  Sums& sums = *product.sums;
  if (product.begins) {
    if (!own.fenced[thread]) fail("a product on registers that no wgmma.fence has made ready");
    sums.at[thread] = d;
    std::memcpy(&sums.words[thread * Mma::kC], d, sizeof(*d) * Mma::kC);
    std::memset(d, kUnknown, sizeof(*d) * Mma::kC);
  }
  if (sums.at[thread] != d) fail("threads of a warpgroup multiply into different registers");
  return product;
}

template <class Mma, class ElementA, class ElementB, Major kMajorA, Major kMajorB,
          bool kFromRegisters>
void start_product(Product& product, std::uint64_t a, std::uint64_t b, bool clears) {
  if (product.threads != 0 && (product.a != a || product.b != b || product.clears != clears)) {
    fail("threads of a warpgroup differ in a product");
  }
  product.a = a;
  product.b = b;
  product.clears = clears;
  product.compute = compute_product<Mma, ElementA, ElementB, kMajorA, kMajorB, kFromRegisters>;
  if (++product.threads < kWarpgroup) return;
  product.block = of_cluster(0);
  Cluster& cluster = *Cluster::running;
  Products& own = own_products();
  cluster.wake(&own);
  if (cluster.random()() % 8 == 0) {
    compute_next(own);
  } else if (cluster.random()() % 2 == 0) {
    cluster.later([&own] { compute_next(own); });
  }
}

template <class Mma, class ElementA, class ElementB, Major kMajorA, Major kMajorB>
void multiply_async(typename Mma::C (&d)[Mma::kC], std::uint64_t a, std::uint64_t b, bool clears) {
  Product& product = join_product<Mma>(d);
  start_product<Mma, ElementA, ElementB, kMajorA, kMajorB, false>(product, a, b, clears);
}
template <class Mma, class ElementA, class ElementB, Major, Major kMajorB>
void multiply_async(typename Mma::C (&d)[Mma::kC], const typename Mma::A (&a)[Mma::kA],
                    std::uint64_t b, bool clears) {
  if (!own_products().fenced[own_place()]) fail("registers of A that no wgmma.fence made ready");
  Product& product = join_product<Mma>(d);
  product.a_registers[own_place()] = a;
  start_product<Mma, ElementA, ElementB, Major::k, kMajorB, true>(product, 0, b, clears);
}

inline void wgmma_fence() {
  own_products().fenced[own_place()] = true;
}
inline void wgmma_commit() {
  Products& own = own_products();
  const std::size_t thread = own_place(), number = own.committed[thread]++;
  if (number == own.groups.size()) own.groups.push_back(own.issued[thread]);
  if (own.groups[number] != own.issued[thread]) {
    fail("threads of a warpgroup differ in a group of products");
  }
  own.fenced[thread] = false;
}

/// Takes the first one off, and writes its sums if nothing else in flight adds to them.
inline void retire(Products& own) {
  Sums& sums = *own.all.front().sums;
  if (--sums.products == 0) {
    const std::size_t count = sums.words.size() / kWarpgroup;
    for (std::size_t thread = 0; thread < kWarpgroup; ++thread) {
      const auto* const registers = static_cast<const unsigned char*>(sums.at[thread]);
      if (std::count(registers, registers + count * 4, kUnknown) != std::ptrdiff_t(count * 4)) {
        fail("registers of sums were written while a product was in flight");
      }
      std::memcpy(sums.at[thread], &sums.words[thread * count], count * 4);
    }
  }
  own.all.pop_front();
  ++own.first;
}
inline void wgmma_wait(std::size_t pending) {
  Products& own = own_products();
  const std::size_t committed = own.committed[own_place()];
  if (committed <= pending) return;
  const std::size_t last = own.groups[committed - pending - 1];
  while (own.computed < last) {
    if (!compute_next(own))
      Cluster::running->sleep(&own, {"other warps at product %u", {unsigned(own.computed)}});
  }
  while (own.first < last) retire(own);
}

inline const bool forgets_products = [] {
  forgetting.push_back([] { products_of_warpgroups.clear(); });
  return true;
}();

}  // namespace emulation
