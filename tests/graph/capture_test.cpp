#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "fake/expect_error.hpp"
#include "fake/fake_runtime.hpp"
#include "tilejit/graph.hpp"

namespace tilejit {
namespace {

using launch::Internals;

TEST(Capture, BecomesAGraphInEachMode) {
  const struct {
    Capture::Mode mode;
    CUstreamCaptureMode driver;
  } kModes[] = {{Capture::Mode::global, CU_STREAM_CAPTURE_MODE_GLOBAL},
                {Capture::Mode::thread, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL},
                {Capture::Mode::relaxed, CU_STREAM_CAPTURE_MODE_RELAXED}};
  for (const auto& row : kModes) {
    FakeDriver fake;
    {
      const Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
      const Kernel kernel = load(runtime, hand_plan());
      Capture capture(runtime, kStream, row.mode);
      kernel.launch(kStream, hand_arguments());
      const Graph graph = capture.end();
      (void)graph.instantiate();
      EXPECT_EQ(fake.capture_modes, std::vector<CUstreamCaptureMode>{row.driver});
      expect_error(ErrorCode::invalid_argument, "ended already", [&] { (void)capture.end(); });
    }
    EXPECT_EQ(fake.alive(), 0);
  }
}

TEST(Capture, IsDroppedWithoutAnEnd) {
  FakeDriver fake;
  const Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  { const Capture capture(runtime, kStream); }
  EXPECT_EQ(fake.count("cuStreamEndCapture"), 1);
  EXPECT_EQ(fake.graphs, 0);
}

TEST(Capture, RefusesTheLegacyStream) {
  FakeDriver fake;
  const Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  for (const Stream stream : {legacy_stream(), CU_STREAM_LEGACY}) {
    expect_error(ErrorCode::invalid_argument, "the legacy default stream cannot be captured",
                 [&] { (void)Capture(runtime, stream); });
  }
  EXPECT_EQ(fake.count("cuStreamBeginCapture"), 0);
}

TEST(Capture, LoadingAndMakingPoolsAreAllowedMeanwhile) {
  FakeDriver fake;
  const Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  Capture capture(runtime, kStream, Capture::Mode::global);
  fake.calls.clear();
  fake.table.cuLibraryLoadData_ = [](CUlibrary*, const void*, CUjit_option*, void**, unsigned,
                                     CUlibraryOption*, void**,
                                     unsigned) { return CUDA_ERROR_UNKNOWN; };
  expect_error(ErrorCode::driver_call, "cuLibraryLoadData",
               [&] { (void)load(runtime, hand_plan()); });
  EXPECT_EQ(fake.calls,
            (std::vector<std::string>{"cuCtxPushCurrent", "cuThreadExchangeStreamCaptureMode",
                                      "cuThreadExchangeStreamCaptureMode", "cuCtxPopCurrent"}));
  EXPECT_EQ(fake.thread_mode, CU_STREAM_CAPTURE_MODE_GLOBAL);  // as it was
}

TEST(Capture, SaysWhichCallBrokeIt) {
  FakeDriver fake;
  const Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  Capture capture(runtime, kStream);
  capture.pass("the first layer");
  fake.fail_on["cuMemAlloc"] = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  expect_error(ErrorCode::driver_call, "make it before the capture",
               [&] { (void)Buffer(runtime, 16); });
  fake.capture_is_broken = true;
  EXPECT_EQ(expect_error(ErrorCode::driver_call,
                         "the capture was broken between 'the first layer' and the end, by "
                         "cuMemAlloc: cuStreamEndCapture failed",
                         [&] { (void)capture.end(); }),
            "cuMemAlloc");
  EXPECT_EQ(fake.graphs, 0);
}

TEST(Capture, SaysBetweenWhichPlacesAnotherLibraryBrokeIt) {
  const struct {
    Capture::Mode mode;
    const char* text;
  } kRows[] = {
      {Capture::Mode::global, "by a call of any thread that a capture in global mode forbids"},
      {Capture::Mode::thread, "by a call of this thread that a capture forbids"},
      {Capture::Mode::relaxed, "by a call that would have to wait for what is captured"}};
  for (const auto& row : kRows) {
    FakeDriver fake;
    const Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
    Capture capture(runtime, kStream, row.mode);
    fake.capture_is_broken = true;
    expect_error(ErrorCode::driver_call,
                 "between the beginning and 'attention', " + std::string(row.text),
                 [&] { capture.pass("attention"); });
  }
}

TEST(Capture, ErrorsSayWhatToDo) {
  const struct {
    CUresult result;
    const char* text;
  } kRows[] = {{CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "make it before the capture"},
               {CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "an earlier call has broken the capture"},
               {CUDA_ERROR_STREAM_CAPTURE_MERGE, "join two captures"},
               {CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "begun on another stream"},
               {CUDA_ERROR_STREAM_CAPTURE_UNJOINED, "did not come back"},
               {CUDA_ERROR_STREAM_CAPTURE_ISOLATION, "depend on work outside it"},
               {CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, "legacy default stream would have to wait"},
               {CUDA_ERROR_CAPTURED_EVENT, "recorded in a capture"},
               {CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, "begun by another thread"}};
  for (const auto& row : kRows) {
    FakeDriver fake;
    const Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
    const Kernel kernel = load(runtime, hand_plan());
    fake.fail_on["cuLaunchKernel"] = row.result;
    expect_error(ErrorCode::driver_call, row.text,
                 [&] { kernel.launch(kStream, hand_arguments()); });
  }
}

TEST(Capture, OfAnotherThreadGoesOn) {
  FakeDriver fake;
  const Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  {
    Capture capture(runtime, kStream);
    fake.fail_on["cuStreamEndCapture"] = CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    expect_error(ErrorCode::driver_call, "end it there", [&] { (void)capture.end(); });
    fake.fail_on.clear();
  }
  EXPECT_EQ(fake.count("cuStreamEndCapture"), 2);
}

}  // namespace
}  // namespace tilejit
