#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "operation/descriptor.hpp"
#include "operation/hasher.hpp"
#include "spec/common.hpp"
#include "tilejit/error.hpp"
#include "tilejit/swizzle.hpp"

namespace tilejit::test {

/// A test operation that takes a tensor map: it cuts the matrix x into boxes of 32 rows of 128
/// bytes (or as wide as the swizzle), and writes each one to y in shared memory's order, one after
/// another. Boxes that reach outside the matrix have zeros there.
struct Boxes {
  using Map = operation::TensorMap;
  static constexpr int kRows = 32;
  std::string name = "boxes";
  std::vector<Symbol> symbols = {};
  std::vector<Tensor> tensors = {{"x", f16, "(M,N):(S,1)", Access::in},
                                 {"y", f16, "L:1", Access::out}};
  std::vector<Scalar> scalars = {};
  Map::Swizzle swizzle = Map::Swizzle::bytes_128;
  Tuning tuning = {};
  bool operator==(const Boxes&) const = default;

  [[nodiscard]] int element_bytes() const { return size_bytes(tensors[0].dtype); }
  [[nodiscard]] int row_bytes() const {
    return swizzle == Map::Swizzle::none ? 128 : operation::swizzle_bytes(swizzle);
  }
  [[nodiscard]] int columns() const { return row_bytes() / element_bytes(); }
  /// Of y, in elements.
  [[nodiscard]] std::int64_t elements_out(std::int64_t m, std::int64_t n) const {
    return (m + kRows - 1) / kRows * ((n + columns() - 1) / columns()) * kRows * columns();
  }
};

/// Its plan: for x itself, or for a copy in a workspace if x is not aligned enough for a tensor
/// map.
class BoxesBody final : public operation::Body {
 public:
  BoxesBody(const Boxes& op, const Target& target) : op_(op), target_(target) {
    signature_.tensors = op.tensors;
    for (const Tensor& tensor : op.tensors) {
      for (const Mode& leaf : tensor.layout.leaves()) {
        for (const Dim& dim : {leaf.extent, leaf.stride}) note_symbols(dim);
      }
    }
    const auto leaves = op.tensors[0].layout.leaves();
    rows_ = leaves[0].extent;
    columns_ = leaves[1].extent;
    pitch_ = leaves[0].stride;
    copies_ = op.tensors[0].align < 16 || divisor_of(pitch_) * op.element_bytes() % 16 != 0;
  }

  [[nodiscard]] std::string_view family() const override { return "boxes"; }
  [[nodiscard]] std::string json() const override {
    return R"({"template":"boxes","kernel":")" + name() + R"(","rows":")" + to_string(rows_) +
           R"(","columns":")" + to_string(columns_) + R"(","map":)" + to_json(map()) + "}";
  }
  [[nodiscard]] std::string_view generator() const override { return "the second of its kind"; }
  [[nodiscard]] operation::Source source() const override {
    return {.name = name() + ".cu", .text = header() + kKernels, .headers = {}};
  }
  [[nodiscard]] std::string header() const override {
    return "#define LOAD " + name() + "\n#define COPY " + name() + "_copy\n#define ROWS " +
           std::to_string(Boxes::kRows) + "\n#define ROW_BYTES " + std::to_string(op_.row_bytes()) +
           "\n#define ELEMENT_BYTES " + std::to_string(op_.element_bytes()) + '\n';
  }
  [[nodiscard]] const operation::Signature& signature() const override { return signature_; }
  [[nodiscard]] operation::LaunchPlan launch() const override {
    operation::LaunchPlan plan{
        .extents = {rows_, columns_},
        .elements = {{{Mode{rows_, pitch_}}, {Mode{columns_, 1}}}, {{}, {}}}};
    if (copies_) {
      plan.steps.push_back(copy());
      plan.workspaces.push_back({.bytes = rows_ * copy_pitch() * op_.element_bytes()});
    }
    plan.steps.push_back(load());
    return plan;
  }
  [[nodiscard]] std::string tuning_class() const override { return "boxes"; }
  [[nodiscard]] operation::Figures figures(const SymbolValues&) const override {
    return {.device = &device::device_of(target_)};
  }
  [[nodiscard]] std::string figures_json(const SymbolValues&) const override { return "{}"; }
  [[nodiscard]] std::string text(const SymbolValues&) const override { return name() + '\n'; }
  [[nodiscard]] operation::Explanation explain(
      const SymbolValues&, const std::optional<operation::Compiled>&) const override {
    return {};
  }

 private:
  using Param = operation::Param;
  // One thread requests a box; the hardware swizzles it on arrival.
  static constexpr const char* kKernels = R"(
struct alignas(64) TensorMap { unsigned long long opaque[16]; };
struct Params { unsigned char* y; long long columns; TensorMap x; };
static_assert(sizeof(Params) == 192, "the host packs the same bytes");
struct CopyParams { const unsigned char* x; unsigned char* to; long long rows, columns, pitch; };

constexpr unsigned kBytes = ROWS * ROW_BYTES, kColumns = ROW_BYTES / ELEMENT_BYTES;

extern "C" __global__ void LOAD(const __grid_constant__ Params p) {
  __shared__ alignas(1024) unsigned char box[kBytes];
  __shared__ alignas(8) unsigned long long barrier;
  const unsigned to = (unsigned)__cvta_generic_to_shared(box);
  const unsigned bar = (unsigned)__cvta_generic_to_shared(&barrier);
  const unsigned across = (unsigned)((p.columns + kColumns - 1) / kColumns);
  const int column = blockIdx.x % across * kColumns, row = blockIdx.x / across * ROWS;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(kBytes)
                 : "memory");
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%2, %3}], [%4];" ::"r"(to),
        "l"((unsigned long long)&p.x), "r"(column), "r"(row), "r"(bar)
        : "memory");
  }
  __syncthreads();
  asm volatile(
      "{ .reg .pred p; L%=: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0; "
      "@p bra D%=; bra L%=; D%=: }" ::"r"(bar)
      : "memory");
  unsigned* const y = (unsigned*)(p.y + (unsigned long long)blockIdx.x * kBytes);
  for (unsigned i = threadIdx.x; i < kBytes / 4; i += blockDim.x) y[i] = ((unsigned*)box)[i];
}

extern "C" __global__ void COPY(const __grid_constant__ CopyParams p) {
  constexpr unsigned kPad = 16 / ELEMENT_BYTES;
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i >= p.rows * p.columns) return;
  const long long row = i / p.columns, column = i % p.columns;
  for (int b = 0; b < ELEMENT_BYTES; ++b) {
    p.to[(row * p.columns * kPad + column) * ELEMENT_BYTES + b] =
        p.x[(row * p.pitch + column) * ELEMENT_BYTES + b];
  }
}
)";

  [[nodiscard]] std::string name() const { return "tilejit_" + op_.name; }
  /// The pitch of rows in the workspace: a multiple of 16 bytes for every number of columns.
  [[nodiscard]] Dim copy_pitch() const { return columns_ * (16 / op_.element_bytes()); }

  [[nodiscard]] operation::TensorMap map() const {
    return {.base = copies_ ? Boxes::Map::Base::workspace : Boxes::Map::Base::tensor,
            .dtype = op_.tensors[0].dtype,
            .modes = {{.extent = columns_, .box = op_.columns()},
                      {.extent = rows_,
                       .stride = copies_ ? copy_pitch() : pitch_,
                       .box = Boxes::kRows}},
            .swizzle = op_.swizzle};
  }
  [[nodiscard]] operation::Step load() const {
    return {.entry = name(),
            .grid = {.units = {{rows_, Boxes::kRows}, {columns_, op_.columns()}}},
            .threads = 128,
            .params = {{.kind = Param::Kind::pointer, .index = 1, .name = "y"},
                       {.kind = Param::Kind::dim, .dim = columns_, .name = "columns", .offset = 8},
                       {.kind = Param::Kind::tensor_map,
                        .index = 0,
                        .map = map(),
                        .name = "x",
                        .offset = 64,
                        .size = 128}},
            .params_bytes = 192};
  }
  [[nodiscard]] operation::Step copy() const {
    return {.entry = name() + "_copy",
            .grid = {.units = {{rows_}, {columns_}}, .units_per_block = 256},
            .threads = 256,
            .params = {{.kind = Param::Kind::pointer, .index = 0},
                       {.kind = Param::Kind::workspace, .index = 0, .offset = 8},
                       {.kind = Param::Kind::dim, .dim = rows_, .offset = 16},
                       {.kind = Param::Kind::dim, .dim = columns_, .offset = 24},
                       {.kind = Param::Kind::dim, .dim = pitch_, .offset = 32}},
            .params_bytes = 40};
  }
  void note_symbols(const Dim& dim) {
    for (const std::string& symbol : dim.symbols()) {
      const auto found = std::ranges::find(op_.symbols, symbol, &Symbol::name);
      signature_.symbols[symbol] = found == op_.symbols.end() ? 1 : found->divisible_by;
    }
  }
  [[nodiscard]] std::int64_t divisor_of(const Dim& dim) const {
    std::int64_t divisor = dim.factor();
    for (const std::string& symbol : dim.symbols()) divisor *= signature_.symbols.at(symbol);
    return divisor;
  }

  Boxes op_;
  Target target_;
  Dim rows_, columns_, pitch_;
  bool copies_ = false;
  operation::Signature signature_;
};

class BoxesDescriptor final : public operation::DescriptorOf<BoxesDescriptor, Boxes> {
 public:
  using DescriptorOf::DescriptorOf;

  [[nodiscard]] std::span<const char* const> own_parts() const noexcept override {
    static constexpr const char* kParts[] = {"/swizzle"};
    return kParts;
  }
  [[nodiscard]] std::uint64_t hash_of_part(std::size_t) const noexcept override {
    return operation::Hasher().add(static_cast<std::uint64_t>(value().swizzle)).hash();
  }
  [[nodiscard]] std::string text_of_part(std::size_t) const override {
    return std::to_string(operation::swizzle_bytes(value().swizzle));
  }
  [[nodiscard]] bool same_own_parts(const operation::Descriptor& other) const override {
    const auto* const same = dynamic_cast<const BoxesDescriptor*>(&other);
    return same != nullptr && same->value().swizzle == value().swizzle;
  }
  [[nodiscard]] std::string json() const override {
    spec::Json json = spec::common_json(name(), symbols(), tensors(), scalars());
    json["op"] = "boxes";
    json["swizzle"] = operation::swizzle_bytes(value().swizzle);
    return spec::text_of(json, name());
  }
  [[nodiscard]] std::vector<Access> access() const override { return {Access::in, Access::out}; }
  [[nodiscard]] std::vector<std::size_t> outputs() const override { return {1}; }
  [[nodiscard]] operation::Plan plan(const Target& target) const override {
    return {.kernel_name = "tilejit_" + name(),
            .target = target,
            .body = std::make_shared<const BoxesBody>(value(), target)};
  }
  [[nodiscard]] operation::Plan plan_with(const Tuning&,
                                          const operation::Plan& plan) const override {
    return plan;
  }
  [[nodiscard]] std::optional<operation::Plan> light_plan(const operation::Plan&) const override {
    return std::nullopt;
  }
  [[nodiscard]] std::vector<Tuning> tuning_candidates(const Target&, std::size_t) const override {
    return {{}};
  }
  /// CuTe's swizzle of its byte offset gives the place of element (r,c) of a box.
  void evaluate(const HostArguments& args) const override {
    const Boxes& op = value();
    const auto leaves = op.tensors[0].layout.leaves();
    const std::int64_t m = leaves[0].extent.evaluate(args.symbols),
                       n = leaves[1].extent.evaluate(args.symbols),
                       pitch = leaves[0].stride.evaluate(args.symbols);
    const std::int64_t bytes = op.element_bytes(), wide = op.columns();
    const int bits = static_cast<int>(op.swizzle);  // none, 32, 64 and 128 bytes
    const Swizzle swizzle = bits == 0 ? Swizzle() : Swizzle(bits, 4, 3);
    const auto* const x = static_cast<const std::byte*>(args.tensors.at(0));
    auto* to = static_cast<std::byte*>(args.tensors.at(1));
    std::memset(to, 0, static_cast<std::size_t>(op.elements_out(m, n) * bytes));
    for (std::int64_t row = 0; row < m; row += Boxes::kRows) {
      for (std::int64_t column = 0; column < n; column += wide) {
        for (std::int64_t r = 0; r < Boxes::kRows && row + r < m; ++r) {
          for (std::int64_t c = 0; c < wide && column + c < n; ++c) {
            std::memcpy(to + swizzle((r * wide + c) * bytes),
                        x + ((row + r) * pitch + column + c) * bytes,
                        static_cast<std::size_t>(bytes));
          }
        }
        to += Boxes::kRows * op.row_bytes();
      }
    }
  }
  [[nodiscard]] Verification verify(const HostArguments&, std::span<const void* const>,
                                    const VerifyOptions&) const override {
    throw Error(ErrorCode::unsupported, "boxes are compared byte by byte");
  }
};

inline Operation boxes(Boxes op) {
  return Operation(std::make_shared<const BoxesDescriptor>(std::move(op)));
}

}  // namespace tilejit::test
