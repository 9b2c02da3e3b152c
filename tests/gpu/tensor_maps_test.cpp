// Tensor maps on a device: boxes of a matrix as the tensor memory accelerator leaves them in shared
// memory, byte for byte, swizzled, with zeros outside.
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "gpu/device_data.hpp"
#include "gpu/gpu_fixture.hpp"
#include "operation/boxes.hpp"

namespace tilejit::test {
namespace {

using Bytes = std::vector<unsigned char>;
using Swizzle = Boxes::Map::Swizzle;

struct Size {
  std::int64_t rows, columns, pitch;  ///< elements
  std::size_t skew = 0;               ///< bytes from an aligned address to the matrix
};

/// A matrix of random bytes on the device, and its boxes.
class Cut {
 public:
  Cut(const Runtime& runtime, const Boxes& op, const Size& size, std::uint64_t seed)
      : op_(op), size_(size), length_(op.elements_out(size.rows, size.columns)) {
    Random random(seed);
    const auto elements = static_cast<std::size_t>((size.rows - 1) * size.pitch + size.columns);
    host_.resize(size.skew + elements * static_cast<std::size_t>(op.element_bytes()));
    for (unsigned char& byte : host_) byte = static_cast<unsigned char>(random());
    x_ = upload(runtime, host_);
    clear(runtime);
  }
  /// Poisons y, and a guard after it.
  void clear(const Runtime& runtime) { y_ = upload(runtime, Bytes(bytes_out() + kGuard, kPoison)); }

  [[nodiscard]] std::vector<Argument> args() const {
    return {static_cast<void*>(static_cast<char*>(x_.data()) + size_.skew), y_};
  }
  [[nodiscard]] SymbolValues symbols() const {
    return {{"M", size_.rows}, {"N", size_.columns}, {"S", size_.pitch}, {"L", length_}};
  }
  [[nodiscard]] Bytes got() const { return download<unsigned char>(y_); }
  [[nodiscard]] Bytes want() {
    Bytes expected(bytes_out() + kGuard, kPoison);
    Boxes symbolic = op_;
    symbolic.tensors[0].layout = "(M,N):(S,1)";
    evaluate(boxes(symbolic),
             {.tensors = {host_.data() + size_.skew, expected.data()}, .symbols = symbols()});
    return expected;
  }

 private:
  static constexpr std::size_t kGuard = 256;
  static constexpr unsigned char kPoison = 0xa5;
  [[nodiscard]] std::size_t bytes_out() const {
    return static_cast<std::size_t>(length_ * op_.element_bytes());
  }

  Boxes op_;
  Size size_;
  std::int64_t length_;  // of y, in elements
  Bytes host_;
  Buffer x_, y_;
};

class TensorMapsOnDevice : public Gpu {
 protected:
  void SetUp() override {
    Gpu::SetUp();
    if (runtime() != nullptr && runtime()->device().target.major < 9) {
      GTEST_SKIP() << "no tensor memory accelerator: needs compute capability 9.0";
    }
  }
  /// A matrix of symbolic size; loads x itself.
  static Boxes aligned(DType dtype = f16, Swizzle swizzle = Swizzle::bytes_128) {
    Boxes op{.symbols = {{"S", 16}}, .swizzle = swizzle};
    for (Tensor& tensor : op.tensors) tensor.dtype = dtype;
    return op;
  }
  /// Loads a copy of x in a workspace.
  static Boxes unaligned(DType dtype = f16) {
    Boxes op{.tensors = aligned(dtype).tensors};
    op.tensors[0].align = size_bytes(dtype);
    return op;
  }
  /// 7 x 4 boxes of f16, most of the last ones outside.
  static Cut ragged(const Boxes& op, std::uint64_t seed) {
    const bool copied = op.tensors[0].align < 16;
    return {*runtime(), op, copied ? Size{200, 200, 203, 2} : Size{200, 200, 208}, seed};
  }
};

TEST_F(TensorMapsOnDevice, LoadEveryByteWhereTheSwizzlePutsIt) {
  for (const Swizzle swizzle :
       {Swizzle::none, Swizzle::bytes_32, Swizzle::bytes_64, Swizzle::bytes_128}) {
    // Not tf32: the hardware may drop its excess bits.
    for (const DType dtype : {u8, f8e4m3, i16, f16, bf16, u32, f32, i64, f64}) {
      const Boxes op = aligned(dtype, swizzle);
      SCOPED_TRACE(std::string(to_string(dtype)) + ", swizzle of " +
                   std::to_string(operation::swizzle_bytes(swizzle)));
      const Kernel kernel = runtime()->compile(boxes(op));
      for (const Size& size :
           {Size{64, 256, 256}, Size{100, 77, 80}, Size{33, 1, 16}, Size{1, 300, 304}}) {
        Cut cut(*runtime(), op, size, 7);
        kernel.launch(nullptr, cut.args(), cut.symbols());
        EXPECT_EQ(cut.got(), cut.want()) << size.rows << " x " << size.columns;
      }
    }
  }
}

TEST_F(TensorMapsOnDevice, LoadKnownSizesAndCopiesOfWhatIsNotAligned) {
  Boxes known = aligned();
  known.symbols.clear();
  known.tensors[0].layout = "(200,200):(208,1)";
  Cut first = ragged(known, 1);
  runtime()->compile(boxes(known)).launch(nullptr, first.args(), {{"L", first.symbols().at("L")}});
  EXPECT_EQ(first.got(), first.want());
  for (const DType dtype : {u8, f16, f32}) {
    const Boxes op = unaligned(dtype);
    const Kernel kernel = runtime()->compile(boxes(op));
    Cut cut(*runtime(), op, {100, 77, 79, static_cast<std::size_t>(size_bytes(dtype))}, 2);
    for (int i = 0; i < 2; ++i) kernel.launch(nullptr, cut.args(), cut.symbols());
    EXPECT_EQ(cut.got(), cut.want()) << to_string(dtype);
  }
}

/// A shape does not determine the stride of a single row.
TEST_F(TensorMapsOnDevice, LoadOneRowOfAnyStride) {
  const Boxes op = aligned();
  Cut cut(*runtime(), op, {1, 300, 304}, 3);
  const std::vector<Argument> bare = cut.args();
  const std::int64_t shape[] = {1, 300}, stride[] = {3, 1}, length[] = {cut.symbols().at("L")},
                     one[] = {1};
  runtime()->compile(boxes(op)).launch(
      nullptr, {Argument(f16, reinterpret_cast<void*>(bare[0].address), shape, stride),
                Argument(f16, reinterpret_cast<void*>(bare[1].address), length, one)});
  EXPECT_EQ(cut.got(), cut.want());
}

TEST_F(TensorMapsOnDevice, AreEncodedInEachModeOfCapture) {
  for (const Boxes& op : {aligned(), unaligned()}) {
    const Kernel kernel = runtime()->compile(boxes(op));
    for (const Capture::Mode mode :
         {Capture::Mode::global, Capture::Mode::thread, Capture::Mode::relaxed}) {
      const OwnedStream stream(*runtime());
      Cut cut = ragged(op, 4 + static_cast<std::uint64_t>(mode));
      Capture capture(*runtime(), stream, mode);
      kernel.launch(stream, cut.args(), cut.symbols());
      const Graph graph = capture.end();
      const GraphExec executable = graph.instantiate();
      for (int i = 0; i < 2; ++i) executable.launch(stream);
      stream.synchronize();
      EXPECT_EQ(cut.got(), cut.want());
    }
  }
}

TEST_F(TensorMapsOnDevice, FollowUpdatesOfGraphsAndBoundLaunches) {
  for (const Boxes& op : {aligned(), unaligned()}) {
    const Kernel kernel = runtime()->compile(boxes(op));
    const OwnedStream stream(*runtime());
    Cut first = ragged(op, 11), second = ragged(op, 12), third = ragged(op, 13);
    GraphBuilder builder(*runtime());
    const Node node = builder.kernel(kernel, first.args(), {}, first.symbols());
    const Graph graph = builder.finish();
    GraphExec executable = graph.instantiate();
    executable.launch(stream);
    executable.update(node, second.args(), second.symbols());
    executable.launch(stream);
    BoundLaunch bound = kernel.bind(second.args(), second.symbols());
    const std::vector<Argument> args = third.args();
    bound.set({{0, args[0]}, {1, args[1]}});
    const Graph copy = graph.clone();
    GraphExec other = copy.instantiate();
    stream.synchronize();
    EXPECT_EQ(first.got(), first.want());
    EXPECT_EQ(second.got(), second.want());

    first.clear(*runtime());
    other.update(node, first.args(), first.symbols());
    other.launch(stream);
    executable.update(node, bound);
    executable.launch(stream);
    stream.synchronize();
    EXPECT_EQ(first.got(), first.want()) << "the copy of the graph";
    EXPECT_EQ(third.got(), third.want());
    third.clear(*runtime());
    const std::vector<Argument> cleared = third.args();
    bound.set(1, cleared[1]);
    bound.launch(stream);
    stream.synchronize();
    EXPECT_EQ(third.got(), third.want());
  }
}

/// Each thread has two matrices, which alternate; the second thread has no context of its own.
TEST_F(TensorMapsOnDevice, OfTwoThreadsAtOnce) {
  constexpr int kThreads = 2, kRounds = 500;
  for (const Boxes& op : {aligned(), unaligned()}) {
    const Kernel kernel = runtime()->compile(boxes(op));
    std::vector<Cut> cuts;
    for (std::uint64_t seed = 0; seed < 2 * kThreads; ++seed) cuts.push_back(ragged(op, seed));
    const OwnedStream streams[kThreads] = {OwnedStream(*runtime()), OwnedStream(*runtime())};
    std::vector<std::string> failures(kThreads);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        try {
          if (t == 0) runtime()->make_current();
          for (std::size_t i = 0; i < kRounds; ++i) {
            const Cut& cut = cuts[2 * t + i % 2];
            kernel.launch(streams[t], cut.args(), cut.symbols());
          }
        } catch (const Error& error) {
          failures[t] = error.what();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (std::size_t t = 0; t < kThreads; ++t) {
      streams[t].synchronize();
      EXPECT_EQ(failures[t], "");
    }
    for (Cut& cut : cuts) EXPECT_EQ(cut.got(), cut.want());
  }
}

}  // namespace
}  // namespace tilejit::test
