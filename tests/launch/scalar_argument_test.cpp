#include "launch/scalar_argument.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "fake/expect_error.hpp"

namespace tilejit::launch {
namespace {

template <typename T>
std::vector<std::byte> bytes_of(T value) {
  std::vector<std::byte> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

struct Accepted {
  DType dtype;
  Argument argument;
  std::vector<std::byte> want;
};

const Accepted kAccepted[] = {
    {f32, 1.5, bytes_of(1.5F)},
    {f32, 0.1, bytes_of(0.1F)},
    {f32, -3, bytes_of(-3.0F)},
    {f32, std::numeric_limits<double>::infinity(),
     bytes_of(std::numeric_limits<float>::infinity())},
    {f16, 70000.0, bytes_of(70000.0F)},
    {bf16, 2.0F, bytes_of(2.0F)},
    {tf32, 0.1, bytes_of(0.1F)},
    {f8e4m3, 1000, bytes_of(1000.0F)},
    {f8e5m2, 1, bytes_of(1.0F)},
    {f64, 0.1, bytes_of(0.1)},
    {f64, std::numeric_limits<std::uint64_t>::max(), bytes_of(18446744073709551616.0)},
    {b8, true, bytes_of(std::uint8_t{1})},
    {b8, 0, bytes_of(std::uint8_t{0})},
    {i8, -128, bytes_of(std::int8_t{-128})},
    {u8, 255, bytes_of(std::uint8_t{255})},
    {i16, 32767, bytes_of(std::int16_t{32767})},
    {u16, 65535, bytes_of(std::uint16_t{65535})},
    {i32, -2147483648LL, bytes_of(std::numeric_limits<std::int32_t>::min())},
    {u32, 4294967295LL, bytes_of(std::numeric_limits<std::uint32_t>::max())},
    {i64, std::numeric_limits<std::int64_t>::min(),
     bytes_of(std::numeric_limits<std::int64_t>::min())},
    {i64, std::numeric_limits<std::int64_t>::max(),
     bytes_of(std::numeric_limits<std::int64_t>::max())},
    {u64, std::numeric_limits<std::uint64_t>::max(),
     bytes_of(std::numeric_limits<std::uint64_t>::max())},
};

TEST(StoreScalar, WritesTheComputeTypeAndNoByteMore) {
  for (const Accepted& c : kAccepted) {
    SCOPED_TRACE(to_string(c.dtype));
    std::array<std::byte, 16> buffer;
    buffer.fill(std::byte{0xAB});
    store_scalar(c.dtype, c.argument, "alpha", buffer.data());
    const std::vector<std::byte> got(buffer.begin(), buffer.begin() + c.want.size());
    EXPECT_EQ(got, c.want);
    EXPECT_EQ(buffer[c.want.size()], std::byte{0xAB});
  }
}

TEST(StoreScalar, KeepsNaN) {
  float value = 0;
  store_scalar(f32, std::nan(""), "alpha", reinterpret_cast<std::byte*>(&value));
  EXPECT_TRUE(std::isnan(value));
}

struct Rejected {
  DType dtype;
  Argument argument;
  const char* text;
};

const Rejected kRejected[] = {
    {f32, static_cast<void*>(nullptr), "got a pointer"},
    {i32, Argument(f32, nullptr, {}, {}), "got a pointer"},
    {f32, 1e300, "cannot hold"},
    {f16, -1e300, "cannot hold"},
    {i32, 1.0, "got the floating value 1.0"},
    {b8, 1.0, "got the floating value"},
    {b8, 2, "cannot hold 2"},
    {b8, -1, "cannot hold -1"},
    {i8, 128, "cannot hold 128"},
    {i8, -129, "cannot hold -129"},
    {u8, 256, "cannot hold 256"},
    {u8, -1, "cannot hold -1"},
    {i16, 32768, "cannot hold 32768"},
    {u16, 65536, "cannot hold 65536"},
    {i32, 2147483648LL, "cannot hold 2147483648"},
    {u32, 4294967296LL, "cannot hold 4294967296"},
    {u64, -1, "cannot hold -1"},
    {i64, std::numeric_limits<std::uint64_t>::max(), "cannot hold 18446744073709551615"},
};

TEST(StoreScalar, RejectsWhatDoesNotFit) {
  for (const Rejected& c : kRejected) {
    SCOPED_TRACE(c.text);
    std::array<std::byte, 8> buffer = {};
    const std::string where = expect_error(ErrorCode::invalid_argument, c.text, [&] {
      store_scalar(c.dtype, c.argument, "alpha", buffer.data());
    });
    EXPECT_EQ(where, "/scalars/alpha");
  }
}

}  // namespace
}  // namespace tilejit::launch
