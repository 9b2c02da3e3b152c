// Blocks whose threads are fibers of one thread, and what launches them.
#pragma once

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <ucontext.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace emulation {

struct Index {
  unsigned x = 0, y = 0, z = 0;
};

inline constexpr int kWarp = 32;
inline constexpr std::size_t kStackBytes = 64 * 1024;

inline std::string printed;  // by kernels, whose `printf` this is
[[gnu::format(printf, 1, 2)]] inline void print(const char* format, ...) {
  va_list values;
  va_start(values, format);
  char text[2048];
  std::vsnprintf(text, sizeof text, format, values);
  va_end(values);
  printed += text;
}

[[noreturn]] inline void fail(const char* what) {
  std::fprintf(stderr, "emulation: %s\n", what);
  std::abort();
}

/// The threads of one block.
class Block {
 public:
  Block(int threads, std::mt19937& random, std::function<void()> kernel)
      : random_(random), kernel_(std::move(kernel)), fibers_(static_cast<std::size_t>(threads)) {
    current_block = this;
    if (extents.x * extents.y * extents.z != fibers_.size()) extents = {unsigned(threads), 1, 1};
    while (stacks.size() < fibers_.size()) {
      stacks.push_back(std::make_unique_for_overwrite<char[]>(kStackBytes));
    }
    for (std::size_t i = 0; i < fibers_.size(); ++i) {
      Fiber& fiber = fibers_[i];
      ::getcontext(&fiber.context);
      fiber.context.uc_stack.ss_sp = stacks[i].get();
      fiber.context.uc_stack.ss_size = kStackBytes;
      ::makecontext(&fiber.context, &Block::enter, 0);
    }
  }

  /// A warp runs for a while before another one does, so that warps are at different places.
  void run() {
    for (;;) {
      std::vector<std::size_t> warps;
      for (std::size_t i = 0; i < fibers_.size(); ++i) {
        if (fibers_[i].state == State::ready) warps.push_back(i / kWarp);
      }
      if (warps.empty()) break;
      const std::size_t warp = warps[random_() % warps.size()];
      while (run_warp(warp * kWarp) && random_() % 16 != 0) {
      }
      release(0, fibers_.size(), State::at_block);
    }
    for (const Fiber& fiber : fibers_) {
      if (fiber.state != State::done) fail("threads wait for one that has ended");
    }
  }

  void meet() { wait(State::at_block); }
  void meet_warp() { wait(State::at_warp); }
  [[nodiscard]] unsigned char* slot(std::size_t thread) { return fibers_[thread].slot; }
  [[nodiscard]] std::size_t current() const { return current_; }

  static inline Block* current_block = nullptr;
  static inline Index thread, block, grid, extents = {1, 1, 1};
  static inline std::vector<std::unique_ptr<char[]>> stacks;  // of one block after the other

 private:
  enum class State { ready, at_block, at_warp, done };
  struct Fiber {
    ucontext_t context = {};  // where it begins; later, `jump` is where it continues
    jmp_buf jump;
    bool begun = false;
    State state = State::ready;
    unsigned char slot[16] = {};
  };

  static void enter() {
    Block& self = *current_block;
    self.kernel_();
    self.wait(State::done);
  }
  // Jumps, since swapcontext would take system calls.
  [[gnu::noinline]] void resume(std::size_t i) {
    current_ = i;
    const auto number = static_cast<unsigned>(i);
    thread = {number % extents.x, number / extents.x % extents.y, number / extents.x / extents.y};
    if (_setjmp(scheduler_) != 0) return;
    if (fibers_[i].begun) _longjmp(fibers_[i].jump, 1);
    fibers_[i].begun = true;
    ::setcontext(&fibers_[i].context);
  }
  [[gnu::noinline]] void wait(State state) {
    fibers_[current_].state = state;
    if (_setjmp(fibers_[current_].jump) == 0) _longjmp(scheduler_, 1);
  }
  /// Runs its threads until they meet or end. False if none could run.
  bool run_warp(std::size_t first) {
    std::vector<std::size_t> ready;
    const std::size_t last = std::min(first + kWarp, fibers_.size());
    for (std::size_t i = first; i < last; ++i) {
      if (fibers_[i].state == State::ready) ready.push_back(i);
    }
    std::shuffle(ready.begin(), ready.end(), random_);
    for (const std::size_t i : ready) resume(i);
    release(first, last, State::at_warp);
    return !ready.empty();
  }
  /// Lets threads that have all met continue.
  void release(std::size_t first, std::size_t last, State state) {
    for (std::size_t i = first; i < last; ++i) {
      if (fibers_[i].state != state) return;
    }
    for (std::size_t i = first; i < last; ++i) fibers_[i].state = State::ready;
  }

  std::mt19937& random_;
  std::function<void()> kernel_;
  std::vector<Fiber> fibers_;
  jmp_buf scheduler_;
  std::size_t current_ = 0;
};

/// Runs the blocks one after the other, in random order.
template <class Kernel, class Params>
void launch(Kernel kernel, const Params& params, int threads, unsigned blocks, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<unsigned> order(blocks);
  for (unsigned i = 0; i < blocks; ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), random);
  Block::grid = {blocks, 1, 1};
  Block::extents = {static_cast<unsigned>(threads), 1, 1};
  for (const unsigned block : order) {
    Block::block = {block, 0, 0};
    Block(threads, random, [&] { kernel(params); }).run();
  }
}

// Half precision, rounded to nearest even.
inline float half_value(unsigned bits) {
  const int exponent = static_cast<int>(bits >> 10 & 31), mantissa = static_cast<int>(bits & 1023);
  float x = exponent == 0 ? ldexpf(static_cast<float>(mantissa), -24)
                          : ldexpf(static_cast<float>(1024 + mantissa), exponent - 25);
  if (exponent == 31) x = mantissa == 0 ? INFINITY : NAN;
  return (bits & 0x8000) != 0 ? -x : x;
}
struct F16 {
  unsigned short bits;
  operator float() const { return half_value(bits); }
};
inline unsigned half_bits(float x) {
  if (x != x) return 0x7fff;
  const unsigned sign = signbit(x) ? 0x8000 : 0;
  const float a = fabsf(x);
  if (a >= 65520) return sign | 0x7c00;
  if (a < ldexpf(1, -14)) return sign | static_cast<unsigned>(nearbyintf(ldexpf(a, 24)));
  const int exponent = ilogbf(a);
  const auto mantissa = static_cast<unsigned>(nearbyintf(ldexpf(a, 10 - exponent)));
  return sign | ((static_cast<unsigned>(exponent + 15) << 10) + mantissa - 1024);
}

/// The shape of a launch, and the block's shared memory.
struct Shape {
  Index grid, block;
  unsigned char* shared;
  std::size_t shared_bytes;
};
inline constexpr std::size_t kGuard = 256;  // bytes behind shared memory that nobody writes

/// The same in three dimensions. Shared memory begins with values that mean nothing; `prepare` is
/// called before each block.
template <class Kernel, class Params, class Prepare>
void launch(Kernel kernel, const Params& params, const Shape& shape, unsigned seed,
            Prepare prepare) {
  std::mt19937 random(seed);
  const unsigned blocks = shape.grid.x * shape.grid.y * shape.grid.z;
  std::vector<unsigned> order(blocks);
  for (unsigned i = 0; i < blocks; ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), random);
  Block::grid = shape.grid;
  Block::extents = shape.block;
  const auto threads = static_cast<int>(shape.block.x * shape.block.y * shape.block.z);
  for (const unsigned block : order) {
    Block::block = {block % shape.grid.x, block / shape.grid.x % shape.grid.y,
                    block / shape.grid.x / shape.grid.y};
    std::memset(shape.shared, 0xff, shape.shared_bytes + kGuard);
    prepare();
    Block(threads, random, [&] { kernel(params); }).run();
    for (std::size_t i = 0; i < kGuard; ++i) {
      if (shape.shared[shape.shared_bytes + i] != 0xff) fail("a write beyond shared memory");
    }
  }
}

}  // namespace emulation
