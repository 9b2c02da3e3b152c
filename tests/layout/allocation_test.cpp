// Layouts of up to 8 leaves never allocate heap memory.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "tilejit/layout_algebra.hpp"

namespace {
thread_local std::size_t allocations = 0;
}  // namespace

// Not inlined: compilers report the pair of malloc and delete as a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new[](std::size_t size) {
  return ::operator new(size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

[[gnu::noinline]] void operator delete[](void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace tilejit {
namespace {

template <typename Operation>
std::size_t allocations_of(Operation operation) {
  const std::size_t before = allocations;
  (void)operation();
  return allocations - before;
}

TEST(Allocations, AlgebraOfEightLeavesHasNone) {
  const Layout a("(4,8,16,32):(1,64,4,512)"), b("(2,4,8,4):(4,512,32,8)");
  EXPECT_EQ(allocations_of([&] { return composition(a, b); }), 0u);
  EXPECT_EQ(allocations_of([&] { return coalesce(a); }), 0u);
  EXPECT_EQ(allocations_of([&] { return complement(a, 65536); }), 0u);
  EXPECT_EQ(allocations_of([&] { return right_inverse(a); }), 0u);
  EXPECT_EQ(allocations_of([&] { return Layout(a).modes().mode(1); }), 0u);
  const Layout eight("(2,2,2,2,2,2,2,2):(1,4,2,8,32,16,64,128)"), order("(2,2,2,2):(1,4,16,64)");
  EXPECT_EQ(allocations_of([&] { return composition(eight, order); }), 0u);
}

TEST(Allocations, AreCounted) {
  const Layout nine("(2,2,2,2,2,2,2,2,2):(1,2,4,8,16,32,64,128,256)");
  EXPECT_GT(allocations_of([&] { return Layout(nine); }), 0u);
}

}  // namespace
}  // namespace tilejit
