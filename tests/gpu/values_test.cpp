// Every function and every cast on the values that often go wrong: zeros, subnormals, limits,
// infinities, NaN.
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "gpu/gpu_fixture.hpp"
#include "support/conversions.hpp"
#include "support/specs.hpp"

namespace tilejit::test {
namespace {

class Values : public Gpu {
 protected:
  /// Runs `op`, whose only input is "x" with the given bytes, and verifies every output.
  void check(const Fused& op, const std::vector<unsigned char>& x) {
    std::vector<std::vector<unsigned char>> host, before;
    std::vector<Buffer> device;
    std::vector<Argument> args;
    HostArguments inputs;
    for (const Tensor& tensor : op.tensors) {
      const auto bytes = static_cast<std::size_t>(cosize(tensor.layout) * size_bytes(tensor.dtype));
      host.push_back(tensor.name == "x" ? x : std::vector<unsigned char>(bytes, 0xa5));
      ASSERT_EQ(host.back().size(), bytes);
      device.emplace_back(*runtime(), bytes);
      device.back().copy_from_host(host.back().data(), bytes);
      args.push_back(device.back());
    }
    before = host;
    std::vector<const void*> actual;
    for (auto& tensor : before) inputs.tensors.push_back(tensor.data());
    runtime()->compile(op).launch(nullptr, args);
    for (std::size_t i = 0; i < host.size(); ++i) {
      device[i].copy_to_host(host[i].data(), host[i].size());
      actual.push_back(host[i].data());
    }
    const Verification result = verify(op, inputs, actual);
    EXPECT_TRUE(result.passed) << result.first_mismatch << " (" << result.mismatches << " of "
                               << result.elements << ")";
  }

  static void check_conversions(DType from, DType to) {
    const std::vector<Conversion> rows = conversions(from, to);
    if (rows.empty()) return;
    SCOPED_TRACE(std::string(to_string(from)) + " to " + std::string(to_string(to)));
    const Fused op = conversion_op(from, to, rows.size());
    std::vector<std::vector<std::byte>> host;
    std::vector<Buffer> device;
    std::vector<Argument> args;
    const auto element = [&](std::size_t tensor, std::size_t i) {
      return host[tensor].data() +
             i * static_cast<std::size_t>(size_bytes(op.tensors[tensor].dtype));
    };
    for (const Tensor& tensor : op.tensors) {
      host.emplace_back(rows.size() * static_cast<std::size_t>(size_bytes(tensor.dtype)));
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      // Little-endian: the low bytes are the narrower integer.
      std::memcpy(element(0, i), &rows[i].value, static_cast<std::size_t>(size_bytes(from)));
      encode(to, rows[i].want, element(1, i));
    }
    for (const auto& bytes : host) {
      args.emplace_back(device.emplace_back(*runtime(), bytes.size()));
      device.back().copy_from_host(bytes.data(), bytes.size());
    }
    runtime()->compile(op).launch(nullptr, args);
    for (std::size_t t = 2; t < host.size(); ++t) {
      device[t].copy_to_host(host[t].data(), host[t].size());
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      EXPECT_EQ(decode(to, element(2, i)), rows[i].want) << "stored, of " << rows[i].value;
      EXPECT_EQ(decode(f64, element(3, i)), rows[i].want) << "cast, of " << rows[i].value;
      EXPECT_EQ(decode(b8, element(4, i)), 1) << "compared, of " << rows[i].value;
    }
  }

  template <class T>
  static std::vector<unsigned char> bytes_of(const std::vector<T>& values) {
    const auto* first = reinterpret_cast<const unsigned char*>(values.data());
    return {first, first + values.size() * sizeof(T)};
  }
};

/// x of `from`, one output of every dtype.
Fused casts_from(DType from, std::size_t count) {
  const std::string layout = "(" + std::to_string(count) + "):(1)";
  Fused op = make_op(from, {{"x", layout}}, "");
  for (const DType to : kAllDTypes) {
    const std::string name = "y_" + std::string(to_string(to));
    op.tensors.push_back({.name = name, .dtype = to, .layout = layout});
    op.formula += name + " = x\n";
  }
  return op;
}

TEST_F(Values, EverySixteenBitFloatToEveryDtype) {
  std::vector<std::uint16_t> codes(65536);
  for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<std::uint16_t>(i);
  for (const DType from : {f16, bf16}) {
    SCOPED_TRACE(to_string(from));
    check(casts_from(from, codes.size()), bytes_of(codes));
  }
}

TEST_F(Values, EveryEightBitCodeToEveryDtype) {
  std::vector<std::uint8_t> codes(256);
  for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<std::uint8_t>(i);
  for (const DType from : {f8e4m3, f8e5m2, i8, u8}) {
    SCOPED_TRACE(to_string(from));
    check(casts_from(from, codes.size()), bytes_of(codes));
  }
}

template <class T>
std::vector<T> edge_values() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values = {T(0),   T(1),   T(2),   T(3),          T(127),
                           T(128), T(255), T(256), Limits::max(), Limits::lowest()};
  if constexpr (std::is_floating_point_v<T>) {
    const T more[] = {-T(0),
                      T(0.5),
                      T(1.5),
                      T(2.5),
                      T(0.1),
                      Limits::min(),
                      Limits::denorm_min(),
                      Limits::infinity(),
                      Limits::quiet_NaN(),
                      T(2147483648.0),
                      T(4294967296.0),
                      T(9223372036854775808.0),
                      T(18446744073709551616.0),
                      T(448),
                      T(464),
                      T(465),
                      T(57344),
                      T(61440),
                      T(65504),
                      T(65519),
                      T(65520),
                      T(1e-8),
                      T(6e-8),
                      T(88.7),
                      T(88.8),
                      T(103.9),
                      T(710),
                      T(1e10)};
    values.insert(values.end(), std::begin(more), std::end(more));
    const std::size_t count = values.size();
    for (std::size_t i = 0; i < count; ++i) values.push_back(-values[i]);
    for (std::uint32_t i = 0; i < 4096; ++i) {  // all exponents
      values.push_back(static_cast<T>(std::bit_cast<float>(i * 1048583u)));
    }
  } else {
    for (std::uint64_t i = 0; i < 512; ++i)
      values.push_back(static_cast<T>(i * 0x9e3779b97f4a7c15u));
  }
  return values;
}

TEST_F(Values, EdgesOfWideTypesToEveryDtype) {
  const auto run = [&](DType from, const auto& values) {
    SCOPED_TRACE(to_string(from));
    check(casts_from(from, values.size()), bytes_of(values));
  };
  run(f32, edge_values<float>());
  run(f64, edge_values<double>());
  run(tf32, edge_values<float>());
  run(i16, edge_values<std::int16_t>());
  run(u16, edge_values<std::uint16_t>());
  run(i32, edge_values<std::int32_t>());
  run(u32, edge_values<std::uint32_t>());
  run(i64, edge_values<std::int64_t>());
  run(u64, edge_values<std::uint64_t>());
}

// The same table as on the CPU: integers used to reach f32 unrounded, and i64 was rounded to bf16
// twice.
TEST_F(Values, IntegersRoundOnce) {
  for (const DType from : kAllDTypes) {
    for (const DType to : kAllDTypes) check_conversions(from, to);
  }
}

// 2^53 + 1 and the limits of 64 bits arrive exactly.
TEST_F(Values, IntegerScalarsAreExact) {
  const auto run = [](DType dtype, auto value) {
    const Fused op{.name = "exact",
                   .tensors = {{.name = "y", .dtype = dtype, .layout = "1:0"}},
                   .scalars = {{.name = "k", .dtype = dtype}},
                   .formula = "y = k"};
    Buffer y(*runtime(), sizeof value);
    runtime()->compile(op).launch(nullptr, {y, value});
    decltype(value) got = 0;
    y.copy_to_host(&got, sizeof got);
    EXPECT_EQ(got, value);
  };
  for (const std::int64_t value : {(std::int64_t{1} << 53) + 1, kMostI64, kLeastI64})
    run(i64, value);
  for (const std::uint64_t value : {(std::uint64_t{1} << 53) + 1, ~std::uint64_t{0}})
    run(u64, value);
}

TEST_F(Values, EveryFunctionOnEdges) {
  const char* const functions[] = {"exp(x)",
                                   "exp2(x)",
                                   "log(x)",
                                   "log2(x)",
                                   "sqrt(x)",
                                   "rsqrt(x)",
                                   "sin(x)",
                                   "cos(x)",
                                   "tan(x)",
                                   "tanh(x)",
                                   "erf(x)",
                                   "floor(x)",
                                   "ceil(x)",
                                   "round(x)",
                                   "sigmoid(x)",
                                   "silu(x)",
                                   "gelu(x)",
                                   "gelu_tanh(x)",
                                   "relu(x)",
                                   "clamp(x, -1, 2)",
                                   "abs(x)",
                                   "-x",
                                   "x ** 2",
                                   "x ** 0.5",
                                   "2.0 ** x",
                                   "min(x, 1.0)",
                                   "max(x, 1.0)",
                                   "x // 3.0",
                                   "x % 3.0",
                                   "x % -3.0",
                                   "1.0 / x",
                                   "x // 0.0",
                                   "where(x < 1, x, -x)",
                                   "x * x - x",
                                   "asin(x)",
                                   "acos(x)",
                                   "atan(x)",
                                   "atan2(x, 2.0)",
                                   "atan2(x, -x)",
                                   "atan2(-0.5, x)",
                                   "sinh(x)",
                                   "cosh(x)",
                                   "log10(x)",
                                   "log1p(x)",
                                   "expm1(x)",
                                   "cbrt(x)",
                                   "hypot(x, 3.0)",
                                   "hypot(x, x)",
                                   "erfc(x)",
                                   "trunc(x)",
                                   "sign(x)",
                                   "copysign(3.0, x)",
                                   "copysign(x, -2.0)",
                                   "fma(x, x, -1.0)",
                                   "fma(x, x, -x * x)",
                                   "where(isnan(x), 1, where(isinf(x), 2, 3))"};
  for (const char* function : functions) {
    SCOPED_TRACE(function);
    const auto floats = edge_values<float>();
    const auto doubles = edge_values<double>();
    const std::string text = std::string("y = ") + function;
    for (const auto& [dtype, bytes] :
         {std::pair{f32, bytes_of(floats)}, std::pair{f64, bytes_of(doubles)}}) {
      SCOPED_TRACE(to_string(dtype));
      const std::string layout = "(" + std::to_string(floats.size()) + "):(1)";
      check(make_op(dtype, {{"x", layout}, {"y", layout}}, text), bytes);
    }
  }
}

TEST_F(Values, IntegerOperatorsOnEdges) {
  const char* const formulas[] = {"x + x",     "x * x",     "x - 1",        "-x",       "~x",
                                  "abs(x)",    "x // 7",    "x % 7",        "7 // x",   "7 % x",
                                  "x ** 3",    "3 ** x",    "x ** x",       "x << 3",   "x >> 3",
                                  "x << x",    "x >> x",    "x / 3",        "x // x",   "x % x",
                                  "sign(x)",   "trunc(x)",  "fma(x, x, 3)", "isnan(x)", "isinf(x)",
                                  "min(x, 5)", "max(x, 5)", "x & 6",        "x | 6",    "x ^ 6"};
  const auto run = [&](DType dtype, const auto& values) {
    SCOPED_TRACE(to_string(dtype));
    const std::string layout = "(" + std::to_string(values.size()) + "):(1)";
    for (const char* formula : formulas) {
      SCOPED_TRACE(formula);
      check(make_op(dtype, {{"x", layout}, {"y", layout}}, std::string("y = ") + formula),
            bytes_of(values));
    }
  };
  run(i8, edge_values<std::int8_t>());
  run(u8, edge_values<std::uint8_t>());
  run(i16, edge_values<std::int16_t>());
  run(i32, edge_values<std::int32_t>());
  run(u32, edge_values<std::uint32_t>());
  run(i64, edge_values<std::int64_t>());
  run(u64, edge_values<std::uint64_t>());
}

}  // namespace
}  // namespace tilejit::test
