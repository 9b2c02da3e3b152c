#include "kernels/npy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "common/command.hpp"

namespace tilejit::cli {
namespace {

using ::testing::HasSubstr;

// A file of format version `major`.0 with `header`, unchanged.
std::string npy(const std::string& header, const std::string& data, char major = 1) {
  std::string file = std::string("\x93NUMPY") + major + '\0';
  file += static_cast<char>(header.size() & 0xff);
  file += static_cast<char>(header.size() >> 8u);
  if (major > 1) file += std::string(2, '\0');
  return file + header + data;
}

std::string header(const std::string& descr, const std::string& order, const std::string& shape) {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}

struct AcceptCase {
  const char* name;
  std::string file;
  NpyHeader want;
  std::string data;
};

TEST(Npy, ReadsWhatNumpyWrites) {
  const std::string twelve = "abcdefghijkl";
  const AcceptCase cases[] = {
      {"matrix", npy(header("<f2", "False", "(2, 3)"), twelve), {"<f2", false, {2, 3}}, twelve},
      {"vector", npy(header("|i1", "False", "(12,)"), twelve), {"|i1", false, {12}}, twelve},
      {"Fortran order",
       npy(header("<i4", "True", "(3, 1)"), twelve),
       {"<i4", true, {3, 1}},
       twelve},
      {"no axes", npy(header("<f4", "False", "()"), "abcd"), {"<f4", false, {}}, "abcd"},
      {"empty", npy(header("<f8", "False", "(0, 9)"), ""), {"<f8", false, {0, 9}}, ""},
      {"empty beside huge",
       npy(header("<f8", "False", "(9223372036854775807, 0)"), ""),
       {"<f8", false, {9223372036854775807, 0}},
       ""},
      {"version 2", npy(header("<f2", "False", "(6,)"), twelve, 2), {"<f2", false, {6}}, twelve},
      {"version 3", npy(header("<f2", "False", "(6,)"), twelve, 3), {"<f2", false, {6}}, twelve},
      {"keys in another order",
       npy("{'shape':(6,),'fortran_order':False,'descr':\"<f2\"}", twelve),
       {"<f2", false, {6}},
       twelve},
      {"bfloat16 of ml_dtypes",
       npy(header("<V2", "False", "(6,)"), twelve),
       {"<V2", false, {6}},
       twelve},
  };
  for (const AcceptCase& c : cases) {
    SCOPED_TRACE(c.name);
    const NpyArray array = parse_npy(c.file, "x.npy");
    EXPECT_EQ(array.header, c.want);
    EXPECT_EQ(array.data, c.data);
  }
}

struct RejectCase {
  const char* name;
  std::string file;
  const char* message;
};

TEST(Npy, RefusesWhatItCannotTrust) {
  const std::string good = npy(header("<f2", "False", "(2,)"), "abcd");
  const RejectCase cases[] = {
      {"nothing", "", "not a NumPy file"},
      {"text", "hello, I am text", "not a NumPy file"},
      {"version 4", npy(header("<f2", "False", "(2,)"), "abcd", 4), "version 4.0"},
      {"ends in the header", good.substr(0, 40), "ends inside its header"},
      {"ends in the data", good.substr(0, good.size() - 1), "holds 3 bytes of data"},
      {"bytes left over", good + "x", "holds 5 bytes of data"},
      {"big-endian", npy(header(">f2", "False", "(2,)"), "abcd"), "big-endian"},
      {"objects", npy(header("|O", "False", "(2,)"), "abcd"), "not numbers"},
      {"records", npy("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,), }", "abcd"),
       "named fields"},
      {"more than the file", npy(header("<f8", "False", "(1000000000000,)"), "abcd"),
       "8000000000000"},
      {"more than 63 bits", npy(header("<f8", "False", "(4294967296, 4294967296)"), "abcd"),
       "more than any file"},
      {"negative extent", npy(header("<f2", "False", "(-2,)"), "abcd"), "not a tuple"},
      {"extent beyond 63 bits", npy(header("<f2", "False", "(9223372036854775808,)"), ""),
       "not a tuple"},
      {"number for a tuple", npy(header("<f2", "False", "(2)"), "abcd"), "malformed shape"},
      {"wrong boolean", npy(header("<f2", "false", "(2,)"), "abcd"), "True nor False"},
      {"no shape", npy("{'descr': '<f2', 'fortran_order': False, }", "abcd"), "header that is not"},
      {"key twice", npy("{'descr': '<f2', 'descr': '<f2', }", "abcd"), "repeated key"},
      {"unknown key", npy("{'descr': '<f2', 'colour': 'red', }", "abcd"), "unexpected"},
      {"open string", npy("{'descr: ", ""), "unterminated"},
      {"text behind", npy(header("<f2", "False", "(2,)") + "import os", "abcd"),
       "header that is not"},
  };
  for (const RejectCase& c : cases) {
    SCOPED_TRACE(c.name);
    try {
      (void)parse_npy(c.file, "x.npy");
      ADD_FAILURE() << "accepted";
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), HasSubstr("x.npy"));
      EXPECT_THAT(error.what(), HasSubstr(c.message));
    }
  }
}

TEST(Npy, EveryTruncationIsRefused) {
  const std::string file = format_npy({"<f4", false, {3, 5}}, std::string(60, 'x'));
  for (std::size_t n = 0; n < file.size(); ++n) {
    EXPECT_THROW((void)parse_npy(file.substr(0, n), "x.npy"), UsageError) << n;
  }
}

TEST(Npy, FormatReadsBackAndAlignsItsData) {
  for (const NpyHeader& header : {NpyHeader{"<f4", false, {}}, NpyHeader{"|b1", true, {4}},
                                  NpyHeader{"<V2", false, {1, 2, 3, 4, 5, 6, 7, 8, 9}}}) {
    std::size_t elements = header.descr == "<f4" ? 4 : header.descr == "<V2" ? 2 : 1;
    for (const std::int64_t extent : header.shape) elements *= static_cast<std::size_t>(extent);
    const std::string data(elements, 'd');
    const std::string file = format_npy(header, data);
    EXPECT_EQ((file.size() - data.size()) % 64, 0U);
    const NpyArray array = parse_npy(file, "x.npy");
    EXPECT_EQ(array.header, header);
    EXPECT_EQ(array.data, data);
  }
}

TEST(Npy, EveryDtypeTakesItsOwnNameAndNoOther) {
  for (const DType dtype : kAllDTypes) {
    EXPECT_TRUE(npy_matches(npy_descr(dtype), dtype)) << to_string(dtype);
    EXPECT_FALSE(npy_matches("<c8", dtype)) << to_string(dtype);
    EXPECT_FALSE(npy_matches(dtype == f64 ? "<f4" : "<f8", dtype)) << to_string(dtype);
  }
  EXPECT_TRUE(npy_matches("<f1", f8e5m2));
  EXPECT_FALSE(npy_matches("<f1", f8e4m3));
  EXPECT_TRUE(npy_matches("<u2", bf16));
  EXPECT_FALSE(npy_matches("<u2", f16));
}

struct ScatterCase {
  const char* name;
  const char* layout;
  bool fortran_order;
  std::vector<std::uint8_t> want;  // the tensor's memory; 0 between elements
};

// The array holds 1, 2, 3, ... in file order.
TEST(Npy, ScatterFollowsTheLayout) {
  const ScatterCase cases[] = {
      {"row-major", "(2,3):(3,1)", false, {1, 2, 3, 4, 5, 6}},
      {"column-major tensor", "(2,3):(1,2)", false, {1, 4, 2, 5, 3, 6}},
      {"Fortran array, column-major tensor", "(2,3):(1,2)", true, {1, 2, 3, 4, 5, 6}},
      {"Fortran array, row-major tensor", "(2,3):(3,1)", true, {1, 3, 5, 2, 4, 6}},
      {"padded rows", "(2,2):(3,1)", false, {1, 2, 0, 3, 4}},
      {"nested mode: its first leaf is the fastest", "((2,2),1):((1,2),0)", false, {1, 2, 3, 4}},
      {"nested mode, permuted", "((2,2)):((2,1))", false, {1, 3, 2, 4}},
      {"vector", "3:2", false, {1, 0, 2, 0, 3}},
      {"empty", "(0,3):(3,1)", false, {}},
  };
  for (const ScatterCase& c : cases) {
    SCOPED_TRACE(c.name);
    const Layout layout = parse_layout(c.layout);
    NpyArray array{.header = {"|u1", c.fortran_order, npy_shape(layout)}, .data = {}};
    for (std::int64_t i = 0; i < size(layout).value(); ++i) array.data += static_cast<char>(i + 1);
    std::vector<std::uint8_t> memory(static_cast<std::size_t>(cosize(layout)) + 1);
    scatter(array, {.name = "x", .dtype = u8}, layout, reinterpret_cast<std::byte*>(memory.data()));
    memory.pop_back();
    EXPECT_EQ(memory, c.want);
    const NpyArray back = gather(reinterpret_cast<const std::byte*>(memory.data()), layout, u8);
    EXPECT_EQ(back.header, (NpyHeader{"|u1", false, npy_shape(layout)}));
    if (!c.fortran_order) {
      EXPECT_EQ(back.data, array.data);
    }
  }
}

TEST(Npy, ScatterMovesElementsOfEveryWidth) {
  for (const DType dtype : {i8, f16, f32, f64}) {
    const auto width = static_cast<std::size_t>(size_bytes(dtype));
    NpyArray array{.header = {std::string(npy_descr(dtype)), false, {2, 2}}, .data = {}};
    for (std::size_t i = 0; i < 4 * width; ++i) array.data += static_cast<char>(i + 1);
    std::vector<std::byte> memory(4 * width);
    const Layout transposed("(2,2):(1,2)");
    scatter(array, {.name = "x", .dtype = dtype}, transposed, memory.data());
    EXPECT_EQ(std::memcmp(memory.data() + width, array.data.data() + 2 * width, width), 0);
    EXPECT_EQ(gather(memory.data(), transposed, dtype).data, array.data);
  }
}

TEST(Npy, BoolBytesBecomeZeroOrOne) {
  std::vector<std::byte> memory(3);
  scatter({{"|b1", false, {3}}, std::string("\x00\x01\x07", 3)}, {.name = "x", .dtype = b8}, "3:1",
          memory.data());
  EXPECT_EQ(memory, (std::vector<std::byte>{std::byte{0}, std::byte{1}, std::byte{1}}));
}

}  // namespace
}  // namespace tilejit::cli
