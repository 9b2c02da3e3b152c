#include "service/queue.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include "runtime/expect_error.hpp"
#include "tilejit/error.hpp"

namespace tilejit::service {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using Clock = std::chrono::steady_clock;

Artifact artifact_of(const std::string& key) {
  Artifact artifact;
  artifact.key = key;
  artifact.cubin = std::make_shared<const std::string>("cubin of " + key);
  return artifact;
}

Work makes(const std::string& key) {
  return [key](Priority) { return artifact_of(key); };
}

CompileRequest background() {
  return {.priority = Priority::background};
}

/// Keeps the one thread of a queue busy until it is opened.
class Gate {
 public:
  explicit Gate(Queue& queue) {
    pending_ = queue.submit("gate", {}, [this](Priority) {
      entered_.release();
      open_.acquire();
      return artifact_of("gate");
    });
    entered_.acquire();
  }
  void open() {
    open_.release();
    EXPECT_TRUE(pending_.wait_for(20s));
  }

 private:
  std::binary_semaphore entered_{0}, open_{0};
  PendingArtifact pending_;
};

/// The order in which jobs run.
class Order {
 public:
  [[nodiscard]] Work add(const std::string& key) {
    return [this, key](Priority) {
      const std::lock_guard lock(mutex_);
      keys_.push_back(key);
      return artifact_of(key);
    };
  }
  [[nodiscard]] std::vector<std::string> keys() const {
    const std::lock_guard lock(mutex_);
    return keys_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> keys_;
};

TEST(Queue, AnswersWithTheArtifact) {
  Queue queue(2, 8);
  const PendingArtifact pending = queue.submit("a", {}, makes("a"));
  EXPECT_EQ(pending.get().key, "a");
  EXPECT_TRUE(pending.ready());
  EXPECT_EQ(pending.state(), CompileState::done);
  const PendingArtifact copy = pending;
  EXPECT_EQ(&copy.get(), &pending.get());
}

TEST(Queue, PassesTheErrorToEveryRequest) {
  Queue queue(1, 8);
  Gate gate(queue);
  const Work fails = [](Priority) -> Artifact {
    throw Error(ErrorCode::compile_failed, "no such luck");
  };
  const PendingArtifact first = queue.submit("a", {}, fails);
  const PendingArtifact second = queue.submit("a", {}, fails);
  gate.open();
  for (const PendingArtifact& pending : {first, second}) {
    expect_error(ErrorCode::compile_failed, "no such luck", [&] { (void)pending.get(); });
    EXPECT_EQ(pending.state(), CompileState::failed);
  }
  EXPECT_EQ(queue.stats().failed, 1U);
}

TEST(Queue, RunsTheForegroundFirstAndRaisesWhatItAsksFor) {
  Queue queue(1, 8);
  Order order;
  Gate gate(queue);
  std::vector<PendingArtifact> all;
  for (const char* key : {"b1", "b2", "b3"}) {
    all.push_back(queue.submit(key, background(), order.add(key)));
  }
  all.push_back(queue.submit("f1", {}, order.add("f1")));
  all.push_back(queue.submit("b3", {}, order.add("b3 again")));
  all.push_back(queue.submit("b2", background(), order.add("b2 again")));
  gate.open();
  for (const PendingArtifact& pending : all) (void)pending.get();
  EXPECT_THAT(order.keys(), ElementsAre("f1", "b3", "b1", "b2"));
  const ServiceStats stats = queue.stats();
  EXPECT_EQ(stats.requests, 7U);
  EXPECT_EQ(stats.joined, 2U);
  EXPECT_EQ(stats.raised, 1U);
  EXPECT_EQ(stats.done, 5U);
  EXPECT_EQ(stats.waited.total(), 5U);
}

}  // namespace
}  // namespace tilejit::service
