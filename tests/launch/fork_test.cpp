// Processes forked after the driver was initialised.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <optional>
#include <string>

#include "fake/fake_runtime.hpp"
#include "tilejit/error.hpp"
#include "tilejit/stream.hpp"

namespace tilejit {
namespace {

using launch::Internals;

/// The text that `call` prints in a forked child: the error, or "done" if there is none.
std::string in_child(const std::function<void()>& call) {
  int ends[2] = {};
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    std::string text = "done";
    try {
      call();
    } catch (const Error& error) {
      text = error.what();
    }
    (void)!write(ends[1], text.data(), text.size());
    _exit(0);
  }
  close(ends[1]);
  std::string text(1000, '\0');
  const ssize_t bytes = read(ends[0], text.data(), text.size());
  close(ends[0]);
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
  text.resize(static_cast<std::size_t>(bytes));
  return text;
}

TEST(Fork, IsExplainedInTheChildAndNoMatterToTheParent) {
  FakeDriver fake;
  std::optional<Runtime> runtime = Internals::make_runtime(kInMemory, fake.table);
  const auto why = [](const std::string& call) {
    return call +
           " was not called: this process was forked after its parent had initialised the CUDA "
           "driver, which does not work in the child; fork before the first Runtime is made, or "
           "start the child with posix_spawn or exec (" +
           call + ")";
  };
  EXPECT_EQ(in_child([&] { (void)load(*runtime, hand_plan()); }), why("cuLibraryLoadData"));
  EXPECT_EQ(in_child([&] {
              (void)runtime->compile(Fused{.tensors = {{"x", f32, "8:1"}}, .formula = "x = 1"});
            }),
            why("Runtime::compile"));
  EXPECT_EQ(in_child([&] { (void)Internals::make_runtime(kInMemory, fake.table); }),
            why("cuDevicePrimaryCtxRetain"));
  EXPECT_NO_THROW((void)load(*runtime, hand_plan()));
}

TEST(Fork, LeavesTheParentsHandlesAlone) {
  FakeDriver fake;
  std::optional<Runtime> runtime = Internals::make_runtime(kInMemory, fake.table);
  std::optional<OwnedStream> stream(std::in_place, *runtime);
  std::optional<Kernel> kernel = load(*runtime, hand_plan());
  std::optional<Buffer> buffer(std::in_place, *runtime, 16);
  EXPECT_EQ(in_child([&] {
              const std::size_t before = fake.calls.size();
              stream.reset();
              kernel.reset();
              buffer.reset();
              runtime.reset();
              if (fake.calls.size() != before) {
                throw Error(ErrorCode::driver_call, fake.calls.back() + " was called");
              }
            }),
            "done");
}

TEST(Fork, AFailedLaunchInTheChildIsExplainedToo) {
  FakeDriver fake;
  const Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  const Kernel kernel = load(runtime, hand_plan());
  fake.fail_on["cuLaunchKernel"] = CUDA_ERROR_NOT_INITIALIZED;  // as the driver answers there
  const std::string text = in_child([&] { kernel.launch(kStream, hand_arguments()); });
  EXPECT_NE(text.find("forked after its parent had initialised it"), std::string::npos) << text;
}

}  // namespace
}  // namespace tilejit
