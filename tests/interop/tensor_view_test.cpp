#include "tilejit/tensor_view.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "fake/expect_error.hpp"
#include "fake/fake_runtime.hpp"
#include "tilejit/reference.hpp"
#include "tilejit/tv.hpp"

namespace tilejit {
namespace {

/// Device memory whose address nobody has.
TensorView unknown_f16(const char* layout) {
  return {{.dtype = f16, .space = MemorySpace::gmem, .align = 16}, layout};
}

std::vector<float> counting(std::size_t size) {
  std::vector<float> data(size);
  std::iota(data.begin(), data.end(), 0.0F);
  return data;
}

/// What CuTe DSL prints for the same steps.
TEST(TensorView, TypesAreThoseOfTheVectorizedAddition) {
  const TensorView divided = zipped_divide(unknown_f16("(2048,2048):(2048,1)"), "(1,4)");
  EXPECT_EQ(to_string(divided),
            "tensor<ptr<f16, gmem, align<16>> o ((1,4),(2048,512)):((0,1),(2048,4))>");
  EXPECT_EQ(to_string(slice({_, {"mi", "ni"}}, divided)),
            "tensor<ptr<f16, gmem, align<8>> o ((1,4)):((0,1))>");
  EXPECT_EQ(to_string(slice({_, {3, 2}}, divided)),
            "tensor<ptr<f16, gmem, align<16>> o ((1,4)):((0,1))>");
  EXPECT_EQ(to_string(slice({_, {3, 1}}, divided)),
            "tensor<ptr<f16, gmem, align<8>> o ((1,4)):((0,1))>");
}

TEST(TensorView, TypesAreThoseOfTheAdditionByThreadsAndValues) {
  const LayoutTV tv = make_layout_tv("(4,32):(32,1)", "(4,8):(8,1)");
  const TensorView tiled =
      zipped_divide(unknown_f16("(2048,2048):(2048,1)"), parse_tiler(to_string(tv.tiler)));
  EXPECT_EQ(memref_type(tiled),
            "!cute.memref<f16, gmem, align<16>, \"((16,256),(128,8)):((2048,1),(32768,256))\">");
  const TensorView block = slice({{_, _}, "bidx"}, tiled);
  EXPECT_EQ(to_string(block), "tensor<ptr<f16, gmem, align<16>> o (16,256):(2048,1)>");
  const TensorView fragments = composition(block, tv.layout_tv);
  EXPECT_EQ(memref_type(fragments),
            "!cute.memref<f16, gmem, align<16>, \"((32,4),(8,4)):((8,8192),(1,2048))\">");
  const TensorView thread = slice({"tidx", _}, fragments);
  EXPECT_EQ(to_string(thread), "tensor<ptr<f16, gmem, align<16>> o ((8,4)):((1,2048))>");
  const TensorView known = substitute(thread, {{"bidx", 129}, {"tidx", 33}});
  // Block (1,1), lane 1 of warp 1.
  EXPECT_EQ(index_of(known, 0), 32768 + 256 + 8192 + 8);
}

TEST(TensorView, CoordinatesFollowTheDataThroughTheSameSteps) {
  const TensorView coordinates = make_identity_tensor({256, 512});
  EXPECT_EQ(to_string(coordinates), "tensor<(0,0) o (256,512):(1@0,1@1)>");
  const TensorView block = slice({{_, _}, "bidx"}, zipped_divide(coordinates, "(16,256)"));
  EXPECT_EQ(to_string(block), "tensor<(?{div=16},?{div=256}) o (16,256):(1@0,1@1)>");
  const TensorView thread =
      slice({"tidx", _}, composition(block, "((32,4),(8,4)):((128,4),(16,1))"));
  EXPECT_EQ(to_string(thread), "tensor<(?{div=4},?{div=8}) o ((8,4)):((1@1,1@0))>");
  const TensorView known = substitute(thread, {{"bidx", 17}, {"tidx", 33}});
  EXPECT_EQ(to_string(known), "tensor<(20,264) o ((8,4)):((1@1,1@0))>");
  EXPECT_EQ(to_string(coordinate_at(known, {{7, 3}})), "(23,271)");
}

TEST(TensorView, OriginsKeepTheirNestingAndDivisors) {
  const TensorView tensor =
      TensorView::of_coordinates({0, 0}, "(((64,128),1),20,7):(((1@0,1@1),0),128@1,64@0)");
  EXPECT_EQ(to_string(slice({_, "n", _}, tensor)),
            "tensor<(0,?{div=128}) o (((64,128),1),7):(((1@0,1@1),0),64@0)>");
  const TensorView transposed = TensorView::of_coordinates({0, 0}, "(1024,512):(1@1,1@0)");
  EXPECT_EQ(to_string(coordinate_at(transposed, {2, 3})), "(3,2)");
  EXPECT_EQ(to_string(make_identity_tensor({4, {2, 3}})),
            "tensor<(0,(0,0)) o (4,(2,3)):(1@0,(1@0@1,1@1@1))>");
  EXPECT_EQ(to_string(make_identity_tensor(4)), "tensor<(0) o (4):(1@0)>");
}

/// a[2], a[9], a[2,4] and assignments of the documents, on (8,5):(5,1).
TEST(TensorView, ReachesElementsByEveryCoordinate) {
  std::vector<float> data = counting(40);
  const TensorView a({.data = data.data()}, "(8,5):(5,1)");
  EXPECT_EQ(to_string(a), "tensor<ptr<f32, generic> o (8,5):(5,1)>");
  const TensorView coordinates = make_identity_tensor(a.layout().shape());
  EXPECT_EQ(element(a, 2), Number(10.0));
  EXPECT_EQ(to_string(coordinate_at(coordinates, 2)), "(2,0)");
  EXPECT_EQ(element(a, 9), Number(6.0));
  EXPECT_EQ(to_string(coordinate_at(coordinates, 9)), "(1,1)");
  EXPECT_EQ(element(a, {2, 4}), Number(14.0));
  set_element(a, {2, 3}, 100.0);
  set_element(a, {2, 4}, 101);
  EXPECT_EQ(data[13], 100.0F);
  EXPECT_EQ(data[14], 101.0F);
  const TensorView nested = a.with_layout("((2,4),5):((5,10),1)");
  EXPECT_EQ(element(nested, {{1, 2}, 3}), Number(28.0));
}

TEST(TensorView, DividedAndPlainIndicesAgree) {
  const TensorView plain({.dtype = f16}, "(2048,2048):(2048,1)");
  const TensorView divided = zipped_divide(plain, "(1,4)");
  for (const std::int64_t value : {0, 1, 2, 3}) {
    EXPECT_EQ(index_of(divided, {{0, value}, {3, 2}}), index_of(plain, {3, 2 * 4 + value}));
  }
}

/// Slicing at the number of each tile, and then at each element, reaches what the tensor reaches.
TEST(TensorView, SlicesMoveTheEngine) {
  std::vector<float> data = counting(96);
  const TensorView tensor({.data = data.data(), .align = 4}, "((2,3),(4,4)):((48,1),(3,12))");
  const TensorView tiled = zipped_divide(tensor, "(2,2)");
  for (std::int64_t rest = 0; rest < 24; ++rest) {
    const TensorView tile = slice({{_, _}, rest}, tiled);
    const TensorView later = substitute(slice({{_, _}, "rest"}, tiled), {{"rest", rest}});
    EXPECT_EQ(later, tile);
    for (std::int64_t i = 0; i < 4; ++i) {
      EXPECT_EQ(element(tile, i), element(tiled, {i, rest}));
      EXPECT_EQ(reinterpret_cast<float*>(tile.engine().data) - data.data() + tile.layout()(i),
                index_of(tile, i));
    }
  }
}

struct Variant {
  const char* name;
  TensorView (*make)(const TensorView&);
  const char* layout;
};
const Variant kVariants[] = {
    {"logical", [](const TensorView& t) { return logical_divide(t, "(2,4)"); },
     "((2,2),(4,2)):((8,16),(1,4))"},
    {"zipped", [](const TensorView& t) { return zipped_divide(t, "(2,4)"); },
     "((2,4),(2,2)):((8,1),(16,4))"},
    {"tiled", [](const TensorView& t) { return tiled_divide(t, "(2,4)"); },
     "((2,4),2,2):((8,1),16,4)"},
    {"flat", [](const TensorView& t) { return flat_divide(t, "(2,4)"); }, "(2,4,2,2):(8,1,16,4)"},
    {"by mode",
     [](const TensorView& t) {
       return composition(t, Tiler{2, 4});
     },
     "(2,4):(8,1)"},
    {"composed", [](const TensorView& t) { return composition(t, "8:4"); }, "8:1"},
    {"flattened", [](const TensorView& t) { return flatten(logical_divide(t, "(2,4)")); },
     "(2,2,4,2):(8,16,1,4)"},
    {"coalesced", [](const TensorView& t) { return coalesce(t.with_layout("(4,8):(1,4)")); },
     "32:1"},
    {"coalesced by mode",
     [](const TensorView& t) {
       return coalesce(logical_divide(t, "(2,4)"), {1, 1});
     },
     "(4,8):(8,1)"},
    {"selected", [](const TensorView& t) { return select(t, {1}); }, "(8):(1)"},
};

TEST(TensorView, TakesTheOperationsOfLayouts) {
  const TensorView tensor({.dtype = i8}, "(4,8):(8,1)");
  for (const Variant& c : kVariants) {
    SCOPED_TRACE(c.name);
    const TensorView result = c.make(tensor);
    EXPECT_EQ(to_string(result.layout()), c.layout);
    EXPECT_EQ(result.engine(), tensor.engine());
  }
}

struct Alignment {
  const char* layout;
  SliceCoordinate at;
  int align;  // bytes, of an f16 tensor that has 16
};
const Alignment kAlignments[] = {
    {"(8,64):(64,1)", {3, _}, 16},
    {"(8,64):(64,1)", {_, 4}, 8},
    {"(8,64):(64,1)", {_, 5}, 2},
    {"(8,64):(64,1)", {_, "c"}, 2},
    {"(8,64):(64,1)", {_, parse_dim("4*c")}, 8},
    {"(8,(8,8)):(64,(8,1))", {_, {"c", _}}, 16},
    {"(8,N):(N,1)", {"r", _}, 2},
    {"(8,8*N):(8*N,1)", {"r", _}, 16},
    {"(8,N):(N,1)", {4, _}, 8},
    {"(8,(2,4)):(1,(0,8))", {_, "c"}, 16},
    {"(8,(2,4)):(1,(4,8))", {_, "c"}, 8},
};

TEST(TensorView, AlignmentIsWhatRemainsSure) {
  for (const Alignment& c : kAlignments) {
    SCOPED_TRACE(std::string(c.layout) + " at " + to_string(c.at));
    EXPECT_EQ(slice(c.at, unknown_f16(c.layout)).engine().align, c.align);
  }
}

TEST(TensorView, FillsEveryElementOfASliceAlone) {
  std::vector<float> data(40, 0.0F);
  const TensorView tensor({.data = data.data()}, "(8,5):(5,1)");
  fill(slice({_, 2}, tensor), 1);
  for (std::size_t i = 0; i < 40; ++i) EXPECT_EQ(data[i], i % 5 == 2 ? 1.0F : 0.0F) << i;
  fill(tensor.with_layout("(0,5):(5,1)"), 2);
  EXPECT_EQ(std::accumulate(data.begin(), data.end(), 0.0F), 8.0F);
}

TEST(TensorView, KeepsValuesOfEveryDtype) {
  for (const DType dtype : kAllDTypes) {
    SCOPED_TRACE(to_string(dtype));
    std::array<std::byte, 16> data = {};
    const TensorView tensor({.dtype = dtype, .data = data.data()}, "2:1");
    set_element(tensor, 1, 1);
    EXPECT_EQ(element(tensor, 1).to<double>(), 1.0);
    EXPECT_EQ(element(tensor, 0).to<double>(), 0.0);
    EXPECT_EQ(element(tensor, 1).is_integer(), !is_floating(dtype));
  }
  std::int64_t lowest = 0;
  std::uint64_t highest = 0;
  set_element({{.dtype = i64, .data = &lowest}, "1:1"}, 0,
              std::numeric_limits<std::int64_t>::min());
  set_element({{.dtype = u64, .data = &highest}, "1:1"}, 0,
              std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(lowest, std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(element({{.dtype = u64, .data = &highest}, "1:1"}, 0),
            Number(std::numeric_limits<std::uint64_t>::max()));
}

TEST(TensorView, PrintsAsCuTeDoes) {
  std::vector<float> data = counting(12);
  const TensorView tensor({.data = data.data()}, "(4,3):(3,1)");
  const std::string row =
      print_tensor(slice({1, _}, tensor), {.space = MemorySpace::rmem, .align = 32});
  EXPECT_EQ(row.substr(row.find(": ")),
            ": f32, rmem, align<32>) o (3):(1), data=\n       [ 3.000000, ],\n       [ 4.000000, "
            "],\n       [ 5.000000, ])\n");
  const std::string column = print_tensor(slice({_, 0}, tensor));
  EXPECT_EQ(column.substr(column.find(" o ")),
            " o (4):(3), data=\n       [ 0.000000, ],\n       [ 3.000000, ],\n       [ 6.000000, "
            "],\n       [ 9.000000, ])\n");
  EXPECT_EQ(print_tensor(make_identity_tensor({4, 2})),
            "tensor((0,0) o (4,2):(1@0,1@1), data=\n       [[ (0,0),  (0,1), ],\n"
            "        [ (1,0),  (1,1), ],\n        [ (2,0),  (2,1), ],\n        [ (3,0),  (3,1), "
            "]])\n");
  EXPECT_EQ(print_tensor(slice({1, _}, make_identity_tensor({4, 2})), {.verbose = true}),
            "tensor((1,0) o (2):(1@1), data= (\n\t(0)= (1,0)\n\t(1)= (1,1)\n)\n");
}

TEST(TensorView, PrintsDeviceMemory) {
  FakeDriver fake;  // its device memory is the host's
  const Runtime runtime = launch::Internals::make_runtime(kInMemory, fake.table);
  std::vector<float> data = counting(12);
  const TensorView tensor({.data = data.data(), .space = MemorySpace::gmem}, "(4,3):(3,1)");
  const std::string row = print_tensor(runtime, kStream, slice({2, _}, tensor));
  EXPECT_EQ(row.substr(row.find(": ")),
            ": f32, gmem, align<4>) o (3):(1), data=\n       [ 6.000000, ],\n       [ 7.000000, "
            "],\n       [ 8.000000, ])\n");
  expect_error(ErrorCode::invalid_argument, "sliced at r, which has no value", [&] {
    (void)print_tensor(runtime, kStream, slice({"r", _}, tensor));
  });
  EXPECT_EQ(print_tensor(runtime, kStream, make_identity_tensor({2, 1})),
            print_tensor(make_identity_tensor({2, 1})));
}

TEST(TensorView, Describes) {
  const TensorView divided = zipped_divide(unknown_f16("(2048,2048):(2048,1)"), "(1,4)");
  EXPECT_EQ(describe(slice({_, {"mi", "ni"}}, divided)),
            "tensor<ptr<f16, gmem, align<8>> o ((1,4)):((0,1))>\n"
            "  shape     ((1,4))\n"
            "  stride    ((0,1))\n"
            "  elements  4 of f16, 16 bits each\n"
            "  memory    gmem, a multiple of 8 bytes\n"
            "  moved by  2048*mi + 4*ni\n");
  EXPECT_EQ(describe(slice({"bidx", _},
                           TensorView({.dtype = i32, .read_only = true}, "((2,N),4):((4,8),1)"))),
            "tensor<ptr<i32, generic> o (4):(1)>\n"
            "  shape     (4)\n"
            "  stride    (1)\n"
            "  elements  4 of i32, 32 bits each\n"
            "  memory    generic, a multiple of 4 bytes, read-only\n"
            "  moved by  (2,N):(4,8)(bidx)\n");
  EXPECT_EQ(describe(slice({"i", _}, make_identity_tensor({4, 2}))),
            "tensor<(?,0) o (2):(1@1)>\n"
            "  shape     (2)\n"
            "  stride    (1@1)\n"
            "  elements  2 coordinates from (0,0) on\n"
            "  moved by  i@0\n");
}

TEST(TensorView, ReadsCoordinatesOfSlices) {
  EXPECT_EQ(parse_slice_coordinate("((None, None), bidx)"), (SliceCoordinate{{_, _}, "bidx"}));
  EXPECT_EQ(parse_slice_coordinate("(_,(3,4*tidx))"),
            (SliceCoordinate{_, {3, parse_dim("4*tidx")}}));
  EXPECT_EQ(to_string(parse_slice_coordinate("((_,_),bidx)")), "((_,_),bidx)");
  for (const char* const text : {"", "(_", "(_,-1)", "(1@0,_)", "(_,_)x"}) {
    SCOPED_TRACE(text);
    expect_error(ErrorCode::invalid_layout, "position",
                 [&] { (void)parse_slice_coordinate(text); });
  }
}

struct ViewRefusal {
  const char* name;
  ErrorCode code;
  const char* message;
  void (*call)();
};
float kOne = 1;
TensorView one_float(MemorySpace space = MemorySpace::generic) {
  return {{.data = &kOne, .space = space}, "1:1"};
}
const ViewRefusal kViewRefusals[] = {
    {"align of 3", ErrorCode::invalid_argument, "align is 3; use a power of two from the 4 bytes",
     [] { TensorView({.align = 3}, "4:1"); }},
    {"align below an element", ErrorCode::invalid_argument, "align is 2",
     [] { TensorView({.align = 2}, "4:1"); }},
    {"a broken promise", ErrorCode::invalid_argument, "no multiple of its align, 4 bytes",
     [] { TensorView({.data = reinterpret_cast<char*>(&kOne) + 2, .align = 4}, "4:1"); }},
    {"memory with steps", ErrorCode::invalid_layout, "the stride 1@0 of 4:1@0 is a step",
     [] { TensorView(Engine{}, "4:1@0"); }},
    {"coordinates with distances", ErrorCode::invalid_layout,
     "the stride 2 of (4,2):(1@0,2) is no step of a coordinate such as (0,0)",
     [] {
       (void)make_identity_tensor({4, 2}).with_layout("(4,2):(1@0,2)");
     }},
    {"an origin of another nesting", ErrorCode::invalid_layout, "1@0@1",
     [] {
       (void)TensorView::of_coordinates({0, 0}, "(4,2):(1@0,1@0@1)");
     }},
    {"nothing kept", ErrorCode::invalid_layout, "slice: (0) leaves no mode; use element, or a '_'",
     [] { (void)slice({0}, TensorView(Engine{}, "(4):(1)")); }},
    {"another nesting", ErrorCode::invalid_layout, "slice: (_,0) is not nested as (4,2,2):(4,2,1)",
     [] {
       (void)slice({_, 0}, TensorView(Engine{}, "(4,2,2):(4,2,1)"));
     }},
    {"outside", ErrorCode::invalid_layout, "the coordinate 2 is outside of 2:1",
     [] {
       (void)slice({_, 2}, TensorView(Engine{}, "(4,2):(2,1)"));
     }},
    {"outside, later", ErrorCode::invalid_layout, "the coordinate 9 is outside of 2:1",
     [] {
       (void)substitute(slice({_, "n"}, TensorView(Engine{}, "(4,2):(2,1)")), {{"n", 9}});
     }},
    {"no value", ErrorCode::invalid_argument, "the tensor is sliced at n, which has no value",
     [] {
       (void)index_of(slice({_, "n"}, TensorView(Engine{}, "(4,2):(2,1)")), 0);
     }},
    {"no memory", ErrorCode::invalid_argument, "null pointer",
     [] {
       (void)element({Engine{}, "4:1"}, 0);
     }},
    {"device memory", ErrorCode::invalid_argument, "they lie in gmem; copy them to the host",
     [] { (void)element(one_float(MemorySpace::gmem), 0); }},
    {"element of coordinates", ErrorCode::invalid_argument, "use coordinate_at",
     [] {
       (void)element(make_identity_tensor({4, 2}), 0);
     }},
    {"engine of coordinates", ErrorCode::invalid_argument, "use coordinate_at",
     [] {
       (void)make_identity_tensor({4, 2}).engine();
     }},
    {"origin of memory", ErrorCode::invalid_argument, "use engine",
     [] { (void)one_float().origin(); }},
    {"read-only", ErrorCode::invalid_argument, "read-only",
     [] {
       fill({{.data = &kOne, .read_only = true}, "1:1"}, 0);
     }},
    {"a value that does not fit", ErrorCode::invalid_argument, "the value 300 is outside of i8",
     [] {
       std::int8_t byte = 0;
       set_element({{.dtype = i8, .data = &byte}, "1:1"}, 0, 300);
     }},
    {"an element outside", ErrorCode::invalid_layout, "outside of 1:1",
     [] { (void)element(one_float(), 1); }},
    {"printed without a value", ErrorCode::unsupported, "give its symbols values",
     [] {
       (void)print_tensor(make_identity_tensor({"M", 2}));
     }},
};

TEST(TensorView, SaysWhatIsWrong) {
  for (const ViewRefusal& c : kViewRefusals) {
    SCOPED_TRACE(c.name);
    expect_error(c.code, c.message, c.call);
  }
  EXPECT_EQ(kOne, 1.0F);
}

}  // namespace
}  // namespace tilejit
