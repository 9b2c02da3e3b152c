#include "driver/handles.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "fake/fake_driver.hpp"
#include "tilejit/error.hpp"

namespace tilejit::driver {
namespace {

TEST(Handles, CostNoMoreThanTheHandleAndItsContext) {
  EXPECT_EQ(sizeof(UniqueStream), sizeof(CUstream) + sizeof(const Context*));
}

TEST(Handles, AreDestroyedOnce) {
  FakeDriver fake;
  {
    const auto context = Context::retain(fake.table, 0);
    UniqueStream stream = make_stream(*context, CU_STREAM_NON_BLOCKING);
    const UniqueStream moved = std::move(stream);
    const UniqueEvent event = make_event(*context, CU_EVENT_DEFAULT);
    EXPECT_EQ(fake.alive(), 3);
  }
  EXPECT_EQ(fake.alive(), 0);
  EXPECT_EQ(fake.count("cuStreamDestroy"), 1);
  EXPECT_EQ(fake.count("cuEventDestroy"), 1);
}

TEST(Handles, TolerateADriverThatHasGone) {
  FakeDriver fake;
  for (const char* call :
       {"cuCtxGetId", "cuStreamDestroy", "cuLibraryUnload", "cuDevicePrimaryCtxRelease"}) {
    fake.fail_on[call] = CUDA_ERROR_DEINITIALIZED;
  }
  {
    const auto context = Context::retain(fake.table, 0);
    const UniqueStream stream = make_stream(*context, CU_STREAM_NON_BLOCKING);
    const UniqueLibrary library(reinterpret_cast<CUlibrary>(1), {context.get()});
  }
  EXPECT_EQ(fake.count("cuStreamDestroy"), 1);
  EXPECT_EQ(fake.count("cuLibraryUnload"), 1);
  EXPECT_EQ(fake.count("cuDevicePrimaryCtxRelease"), 1);
}

TEST(Handles, OfAContextThatWasResetAreLeftAlone) {
  for (const unsigned long long id_afterwards : {0, 2}) {  // destroyed; active again
    FakeDriver fake;
    {
      const auto context = Context::retain(fake.table, 0);
      const UniqueStream stream = make_stream(*context, CU_STREAM_NON_BLOCKING);
      const UniqueEvent event = make_event(*context, CU_EVENT_DEFAULT);
      EXPECT_TRUE(context->is_alive());
      fake.context_id = id_afterwards;
      EXPECT_FALSE(context->is_alive());
    }
    EXPECT_EQ(fake.count("cuStreamDestroy"), 0);
    EXPECT_EQ(fake.count("cuEventDestroy"), 0);
    EXPECT_EQ(fake.count("cuDevicePrimaryCtxRelease"), 0);
  }
}

TEST(Context, IsReleasedWithItsLastOwner) {
  FakeDriver fake;
  auto first = Context::retain(fake.table, 0);
  const auto second = std::exchange(first, nullptr);
  EXPECT_EQ(fake.contexts, 1);
  EXPECT_EQ(second->device(), 0);
}

TEST(Context, RejectsADeviceThatIsNotThere) {
  FakeDriver fake;
  for (const int ordinal : {-1, 1, 7}) {
    try {
      (void)Context::retain(fake.table, ordinal);
      ADD_FAILURE() << "no error for " << ordinal;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::no_device);
      EXPECT_THAT(error.what(), ::testing::HasSubstr("sees 1 device,"));
    }
  }
  EXPECT_EQ(fake.contexts, 0);
}

TEST(ContextScope, RestoresWhatWasCurrent) {
  FakeDriver fake;
  const auto context = Context::retain(fake.table, 0);
  {
    const ContextScope scope(*context);
    EXPECT_EQ(fake.current.back(), context->handle());
  }
  EXPECT_TRUE(fake.current.empty());
}

}  // namespace
}  // namespace tilejit::driver
