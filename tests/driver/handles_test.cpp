#include "driver/handles.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "runtime/fake_driver.hpp"
#include "tilejit/error.hpp"

namespace tilejit::driver {
namespace {

TEST(Handles, CostNoMoreThanTheHandleAndItsTable) {
  EXPECT_EQ(sizeof(UniqueStream), sizeof(CUstream) + sizeof(const Table*));
}

TEST(Handles, AreDestroyedOnce) {
  FakeDriver fake;
  {
    UniqueStream stream = make_stream(fake.table, CU_STREAM_NON_BLOCKING);
    const UniqueStream moved = std::move(stream);
    const UniqueEvent event = make_event(fake.table, CU_EVENT_DEFAULT);
    EXPECT_EQ(fake.alive(), 2);
  }
  EXPECT_EQ(fake.alive(), 0);
  EXPECT_EQ(fake.count("cuStreamDestroy"), 1);
  EXPECT_EQ(fake.count("cuEventDestroy"), 1);
}

TEST(Handles, TolerateADriverThatHasGone) {
  FakeDriver fake;
  fake.fail_on = {{"cuStreamDestroy", CUDA_ERROR_DEINITIALIZED},
                  {"cuLibraryUnload", CUDA_ERROR_DEINITIALIZED},
                  {"cuDevicePrimaryCtxRelease", CUDA_ERROR_DEINITIALIZED}};
  { const UniqueStream stream = make_stream(fake.table, CU_STREAM_NON_BLOCKING); }
  own(fake.table, reinterpret_cast<CUlibrary>(1)).reset();
  { const auto context = Context::retain(fake.table, 0); }
  EXPECT_EQ(fake.count("cuStreamDestroy"), 1);
  EXPECT_EQ(fake.count("cuLibraryUnload"), 1);
  EXPECT_EQ(fake.count("cuDevicePrimaryCtxRelease"), 1);
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
