// The threads of a cluster of blocks, as fibers of one thread that run in random order between the
// points where they wait; and what they start that happens at a random time later.
#pragma once

#include <setjmp.h>
#include <ucontext.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "shape.hpp"

namespace emulation {

inline constexpr std::size_t kWarp = 32;
inline constexpr std::size_t kStackBytes = 64 * 1024;

/// Where the running thread is.
struct Block {
  static inline Index thread, block, grid, extents = {1, 1, 1};
};

/// What a thread waits for, in a message.
struct Waiting {
  const char* what = "";  ///< with two numbers, as of printf
  unsigned numbers[2] = {};
};

/// The threads of the blocks of one cluster, which lie beside each other along x.
class Cluster {
 public:
  Cluster(std::size_t blocks, std::size_t threads, std::mt19937& random,
          std::function<void()> kernel)
      : random_(random),
        kernel_(std::move(kernel)),
        threads_(threads),
        warps_of_block_((threads + kWarp - 1) / kWarp),
        first_(Block::block),
        fibers_(blocks * threads),
        ready_(blocks * warps_of_block_),
        at_block_(blocks),
        ended_(blocks) {
    running = this;
    if (Block::extents.x * Block::extents.y * Block::extents.z != threads) {
      Block::extents = {static_cast<unsigned>(threads), 1, 1};
    }
    while (stacks.size() < fibers_.size()) {
      stacks.push_back(std::make_unique_for_overwrite<char[]>(kStackBytes));
    }
    for (std::size_t i = 0; i < fibers_.size(); ++i) {
      Fiber& fiber = fibers_[i];
      ::getcontext(&fiber.context);
      fiber.context.uc_stack.ss_sp = stacks[i].get();
      fiber.context.uc_stack.ss_size = kStackBytes;
      ::makecontext(&fiber.context, &Cluster::enter, 0);
      ++ready_[warp_of(i)];
    }
  }

  /// A warp runs for a while before another one does, so that warps are at different places. What
  /// is to happen later does so in between, in any order, or only when no thread can run. For some
  /// time a warp or a block is late: it runs only when no other one can.
  void run() {
    std::vector<std::size_t> warps;
    for (std::size_t turns = 0;; ++turns) {
      if (turns % 256 == 0) draw_manners();
      find_ready(warps);
      if (!effects_.empty() && (warps.empty() || (!lazy_ && random_() % 8 == 0))) {
        happen();
        continue;
      }
      if (warps.empty()) break;
      const std::size_t warp = warps[random_() % warps.size()];
      while (run_warp(warp) && random_() % 16 != 0) {
      }
    }
    for (const Fiber& fiber : fibers_) {
      if (fiber.state != State::done) throw std::runtime_error("threads wait for ever:" + places());
    }
  }

  /// Of the running thread: its number in its block, and in its cluster; its block and its warp.
  [[nodiscard]] std::size_t current() const { return current_ % threads_; }
  [[nodiscard]] std::size_t self() const { return current_; }
  [[nodiscard]] std::size_t rank() const { return current_ / threads_; }
  [[nodiscard]] std::size_t warp() const { return warp_of(current_); }

  [[nodiscard]] std::size_t blocks() const { return fibers_.size() / threads_; }
  [[nodiscard]] std::size_t threads() const { return fibers_.size(); }
  [[nodiscard]] std::size_t warps() const { return ready_.size(); }
  /// Whether all threads of a block have ended.
  [[nodiscard]] bool has_ended(std::size_t rank) const { return ended_[rank] == threads_; }
  /// Called by each thread that ends.
  std::function<void()> on_end = [] {};
  /// How many threads have ended.
  [[nodiscard]] std::size_t ended() const {
    return std::accumulate(ended_.begin(), ended_.end(), std::size_t{0});
  }
  [[nodiscard]] std::mt19937& random() { return random_; }

  void meet() {
    if (++at_block_[rank()] < threads_) return wait(State::at_block);
    at_block_[rank()] = 0;
    const std::size_t first = rank() * threads_;
    release(first, first + threads_, State::at_block);
  }
  void meet_warp() { wait(State::at_warp); }
  /// 16 bytes of a thread of the running thread's block.
  [[nodiscard]] unsigned char* slot(std::size_t thread) {
    return fibers_[rank() * threads_ + thread].slot;
  }

  /// Waits for wake(key). Whoever is woken looks for himself whether he may continue.
  void sleep(const void* key, const Waiting& waiting) {
    fibers_[current_].key = key;
    fibers_[current_].waiting = waiting;
    wait(State::asleep);
  }
  void wake(const void* key) {
    for (std::size_t i = 0; i < fibers_.size(); ++i) {
      if (fibers_[i].state == State::asleep && fibers_[i].key == key) set(i, State::ready);
    }
  }

  /// Lets `effect` happen at a random time. It may be called after somebody has done its work.
  void later(std::function<void()> effect) { effects_.push_back(std::move(effect)); }

  /// Ends the cluster: run() throws.
  [[noreturn]] void stop(const std::string& why) {
    if (!in_fiber_) throw std::runtime_error(why);
    failure_ = why;
    _longjmp(scheduler_, 1);
  }

  static inline Cluster* running = nullptr;
  static inline std::vector<std::unique_ptr<char[]>> stacks;  // of one cluster after the other

 private:
  enum class State { ready, at_block, at_warp, asleep, done };
  struct Fiber {
    ucontext_t context = {};  // where it begins; later, `jump` is where it continues
    jmp_buf jump;
    bool begun = false;
    State state = State::ready;
    const void* key = nullptr;
    Waiting waiting;
    unsigned char slot[16] = {};
  };

  [[nodiscard]] std::size_t warp_of(std::size_t i) const {
    return i / threads_ * warps_of_block_ + i % threads_ / kWarp;
  }
  static void enter() {
    running->kernel_();
    running->end();
  }
  void end() {
    ++ended_[rank()];
    on_end();
    wait(State::done);
  }
  void set(std::size_t i, State state) {
    if (fibers_[i].state == State::ready) --ready_[warp_of(i)];
    if (state == State::ready) ++ready_[warp_of(i)];
    fibers_[i].state = state;
  }
  // Jumps, since swapcontext would take system calls.
  [[gnu::noinline]] void resume(std::size_t i) {
    current_ = i;
    const auto number = static_cast<unsigned>(i % threads_);
    const Index& extents = Block::extents;
    Block::thread = {number % extents.x, number / extents.x % extents.y,
                     number / extents.x / extents.y};
    Block::block = {first_.x + static_cast<unsigned>(i / threads_), first_.y, first_.z};
    in_fiber_ = true;
    if (_setjmp(scheduler_) != 0) {
      in_fiber_ = false;
      if (!failure_.empty()) throw std::runtime_error(failure_);
      return;
    }
    if (fibers_[i].begun) _longjmp(fibers_[i].jump, 1);
    fibers_[i].begun = true;
    ::setcontext(&fibers_[i].context);
  }
  [[gnu::noinline]] void wait(State state) {
    set(current_, state);
    if (_setjmp(fibers_[current_].jump) == 0) _longjmp(scheduler_, 1);
  }
  void draw_manners() {
    lazy_ = random_() % 2 == 0;
    late_first_ = late_last_ = 0;
    if (random_() % 4 == 0) return;
    const bool is_block = blocks() > 1 && random_() % 2 == 0;
    const std::size_t size = is_block ? warps_of_block_ : 1;
    late_first_ = random_() % (ready_.size() / size) * size;
    late_last_ = late_first_ + size;
  }
  /// The warps that may run now.
  void find_ready(std::vector<std::size_t>& warps) const {
    warps.clear();
    for (std::size_t w = 0; w < ready_.size(); ++w) {
      const bool is_late = w >= late_first_ && w < late_last_;
      if (ready_[w] != 0 && !is_late) warps.push_back(w);
    }
    for (std::size_t w = late_first_; w < late_last_ && warps.size() == 0; ++w) {
      if (ready_[w] != 0) warps.push_back(w);
    }
  }
  /// Runs its threads until they wait or end. False if none could run.
  bool run_warp(std::size_t warp) {
    const std::size_t in_block = warp % warps_of_block_ * kWarp;
    const std::size_t first = warp / warps_of_block_ * threads_ + in_block;
    const std::size_t last = first + std::min(kWarp, threads_ - in_block);
    std::size_t ready[kWarp], count = 0;
    for (std::size_t i = first; i < last; ++i) {
      if (fibers_[i].state == State::ready) ready[count++] = i;
    }
    std::shuffle(ready, ready + count, random_);
    for (std::size_t i = 0; i < count; ++i) resume(ready[i]);
    for (std::size_t i = first; i < last; ++i) {
      if (fibers_[i].state != State::at_warp) return count != 0;
    }
    release(first, last, State::at_warp);
    return true;
  }
  void release(std::size_t first, std::size_t last, State state) {
    for (std::size_t i = first; i < last; ++i) {
      if (fibers_[i].state == state) set(i, State::ready);
    }
  }
  void happen() {
    std::swap(effects_[random_() % effects_.size()], effects_.back());
    const std::function<void()> effect = std::move(effects_.back());
    effects_.pop_back();
    effect();
  }

  /// Which threads wait where, a line for those that wait for the same.
  [[nodiscard]] std::string places() const {
    std::string text, before;
    for (std::size_t i = 0, from = 0; i <= fibers_.size(); ++i) {
      const std::string place = i < fibers_.size() ? place_of(i) : "";
      if (place == before && i % threads_ != 0) continue;
      if (i != 0) {
        text += "\n  block " + std::to_string(from / threads_) + ", threads " +
                std::to_string(from % threads_) + " to " + std::to_string((i - 1) % threads_) +
                before;
      }
      before = place;
      from = i;
    }
    return text;
  }
  [[nodiscard]] std::string place_of(std::size_t i) const {
    const Fiber& fiber = fibers_[i];
    char text[200] = "";
    if (fiber.state == State::asleep) {
      std::snprintf(text, sizeof text, fiber.waiting.what, fiber.waiting.numbers[0],
                    fiber.waiting.numbers[1]);
    }
    const char* const what = fiber.state == State::done       ? " have ended"
                             : fiber.state == State::at_block ? " wait for their block"
                             : fiber.state == State::at_warp  ? " wait for their warp"
                                                              : " wait for ";
    return std::string(what) + text;
  }

  std::mt19937& random_;
  std::function<void()> kernel_;
  std::size_t threads_, warps_of_block_;  // of a block
  Index first_;                           // block
  std::vector<Fiber> fibers_;
  std::vector<std::size_t> ready_;  // threads of a warp
  std::vector<std::size_t> at_block_, ended_;
  std::vector<std::function<void()>> effects_;
  jmp_buf scheduler_;
  std::size_t current_ = 0;
  std::size_t late_first_ = 0, late_last_ = 0;  // warps
  bool lazy_ = false;                           // effects wait until no thread can run
  bool in_fiber_ = false;
  std::string failure_;
};

[[noreturn]] inline void fail(const std::string& what) {
  if (Cluster::running == nullptr) throw std::runtime_error(what);
  Cluster::running->stop(what);
}

}  // namespace emulation
