// Twenty launches in a stream, and the same launches captured once and replayed as a graph. Kernels
// are compiled before the capture; a replay compiles nothing and costs the host one call.
#include <tilejit/tilejit.hpp>

#include <cstdio>
#include <vector>

using namespace tilejit;

namespace {

constexpr int kLaunches = 20;
constexpr int kRepeats = 50;

const Fused kIncrement{
    .name = "increment",
    .tensors = {{.name = "x", .dtype = f32, .layout = "4096:1", .access = Access::inout}},
    .formula = "x = x + 1"};

/// Microseconds of one `call`, which puts work on `stream`.
template <typename Call>
double time_of(const Runtime& runtime, const OwnedStream& stream, const Call& call) {
  Event begin(runtime, Event::Timing::on), end(runtime, Event::Timing::on);
  call();  // warm
  begin.record(stream);
  for (int i = 0; i < kRepeats; ++i) call();
  end.record(stream);
  end.synchronize();
  return 1000 * end.milliseconds_since(begin) / kRepeats;
}

/// x after all launches, in x[0].
void on_the_gpu(std::vector<float>& x) {
  Runtime runtime;
  const OwnedStream stream(runtime);
  const std::size_t bytes = x.size() * sizeof(float);
  Buffer memory(runtime, bytes);
  memory.copy_from_host(x.data(), bytes);
  BoundLaunch increment = runtime.compile(kIncrement).bind({memory});
  const auto launch_all = [&] {
    for (int i = 0; i < kLaunches; ++i) increment.launch(stream);
  };
  Capture capture(runtime, stream);
  launch_all();
  const GraphExec graph = capture.end().instantiate();
  const double in_stream = time_of(runtime, stream, launch_all);
  const double replayed = time_of(runtime, stream, [&] { graph.launch(stream); });
  std::printf("%d launches: %.1f us in a stream, %.1f us as a graph, %.0f %% less\n", kLaunches,
              in_stream, replayed, 100 * (1 - replayed / in_stream));
  memory.copy_to_host(x.data(), bytes);
}

}  // namespace

int main() try {
  std::vector<float> x(4096, 0.0F);
  const int replays = 2 * (kRepeats + 1);
  try {
    on_the_gpu(x);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::no_driver && error.code() != ErrorCode::no_device) throw;
    std::printf("no GPU: the CPU does the same\n");
    for (int i = 0; i < replays * kLaunches; ++i)
      evaluate(kIncrement, {.tensors = {x.data()}, .scalars = {}, .symbols = {}});
  }
  std::printf("x[7] = %g\n", x[7]);
  return x[7] == static_cast<float>(replays * kLaunches) ? 0 : 1;
} catch (const Error& error) {
  std::printf("%s\n", error.what());
  return 1;
}
