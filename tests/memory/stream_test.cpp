#include "tilejit/stream.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fake/expect_error.hpp"
#include "fake/fake_runtime.hpp"

namespace tilejit {
namespace {

using launch::Internals;

TEST(OwnedStream, IsMadeAsAskedAndDestroyedOnce) {
  FakeDriver fake;
  {
    const Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
    OwnedStream plain(runtime);
    const OwnedStream moved = std::move(plain);
    const OwnedStream other(runtime, {.blocking = true, .priority = -5});
    EXPECT_EQ(fake.created_streams, (std::vector<std::pair<unsigned, int>>{
                                        {CU_STREAM_NON_BLOCKING, 0}, {CU_STREAM_DEFAULT, -5}}));
    EXPECT_EQ(moved.get(), static_cast<Stream>(moved));
    EXPECT_TRUE(fake.current.empty());
    EXPECT_EQ(fake.count("cuStreamSynchronize"), 0);
  }
  EXPECT_EQ(fake.alive(), 0);
  EXPECT_EQ(fake.count("cuStreamDestroy"), 2);
  EXPECT_EQ(fake.count("cuStreamSynchronize"), 0);  // nor does its destruction
}

TEST(OwnedStream, RefusesAPriorityTheDeviceDoesNotHave) {
  FakeDriver fake;
  const Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  for (const int priority : {-6, 1}) {
    expect_error(ErrorCode::invalid_argument, "is not between -5 and 0",
                 [&] { (void)OwnedStream(runtime, {.priority = priority}); });
  }
  EXPECT_EQ(fake.streams, 0);
}

TEST(OwnedStream, TellsWhetherItIsIdle) {
  FakeDriver fake;
  const Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  const OwnedStream stream(runtime);
  EXPECT_TRUE(stream.is_idle());
  fake.stream_is_busy = true;
  EXPECT_FALSE(stream.is_idle());
  fake.fail_on["cuStreamQuery"] = CUDA_ERROR_UNKNOWN;
  EXPECT_EQ(expect_error(ErrorCode::driver_call, "cuStreamQuery", [&] { (void)stream.is_idle(); }),
            "cuStreamQuery");
}

TEST(OwnedStream, OutlivesItsRuntime) {
  FakeDriver fake;
  std::optional<Runtime> runtime = Internals::make_runtime(kInMemory, fake.table);
  {
    const OwnedStream stream(*runtime);
    runtime.reset();
    EXPECT_EQ(fake.contexts, 1);
  }
  EXPECT_EQ(fake.alive(), 0);
  EXPECT_EQ(fake.calls.back(), "cuDevicePrimaryCtxRelease");
}

TEST(Event, LetsOneStreamWaitForAnother) {
  FakeDriver fake;
  const Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  const OwnedStream first(runtime), second(runtime);
  Event event(runtime);
  fake.calls.clear();
  event.record(first);
  event.wait(second);
  EXPECT_EQ(fake.calls,
            (std::vector<std::string>{"cuCtxPushCurrent", "cuEventRecord", "cuCtxPopCurrent",
                                      "cuCtxPushCurrent", "cuStreamWaitEvent", "cuCtxPopCurrent"}));
  ASSERT_EQ(fake.waits.size(), 1U);
  EXPECT_EQ(fake.waits[0].first, second.get());
  EXPECT_EQ(fake.waits[0].second, event.get());
}

TEST(Event, IsAskedAndTimed) {
  FakeDriver fake;
  const Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  const Event begin(runtime, Event::Timing::on), end(runtime, Event::Timing::on);
  EXPECT_EQ(end.milliseconds_since(begin), 1.0);
  EXPECT_TRUE(end.is_done());
  fake.stream_is_busy = true;
  EXPECT_FALSE(end.is_done());
  end.synchronize();
  EXPECT_EQ(fake.count("cuEventSynchronize"), 1);
}

TEST(Streams, DefaultOnesHaveNames) {
  EXPECT_EQ(legacy_stream(), nullptr);
  EXPECT_EQ(per_thread_stream(), CU_STREAM_PER_THREAD);
}

}  // namespace
}  // namespace tilejit
