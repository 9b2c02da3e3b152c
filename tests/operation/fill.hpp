#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "device/device.hpp"
#include "operation/descriptor.hpp"
#include "operation/hasher.hpp"
#include "spec/common.hpp"
#include "spec/specs.hpp"
#include "tilejit/error.hpp"

namespace tilejit::test {

/// A minimal test operation: it sets every element of its one tensor, `extent` contiguous f32, to
/// the value of its one scalar, in steps of `step` elements per thread.
struct Fill {
  std::string name = "fill";
  std::vector<Symbol> symbols = {};
  std::vector<Tensor> tensors = {{"y", f32, "1024:1", Access::out}};
  std::vector<Scalar> scalars = {{"value", f32}};
  int step = 1;
  Tuning tuning = {};
  bool operator==(const Fill&) const = default;
};

/// Its plan: the knob is the number of threads.
class FillBody final : public operation::Body {
 public:
  FillBody(const Fill& op, const Target& target, int threads)
      : op_(op), target_(target), threads_(threads), extent_(size(op.tensors[0].layout).value()) {
    signature_.tensors = op.tensors;
    signature_.scalars = op.scalars;
  }

  [[nodiscard]] std::string_view family() const override { return "fill"; }
  [[nodiscard]] std::string json() const override {
    return R"({"template":"fill","kernel":")" + name() + R"(","extent":)" +
           std::to_string(extent_) + R"(,"step":)" + std::to_string(op_.step) + R"(,"threads":)" +
           std::to_string(threads_) + "}";
  }
  [[nodiscard]] std::string_view generator() const override { return "the first of its kind"; }
  [[nodiscard]] operation::Source source() const override {
    return {.name = name() + ".cu", .text = header() + kKernel, .headers = {}};
  }
  [[nodiscard]] std::string header() const override {
    return "#define KERNEL " + name() + "\n#define STEP " + std::to_string(op_.step) + '\n';
  }
  [[nodiscard]] const operation::Signature& signature() const override { return signature_; }
  [[nodiscard]] operation::LaunchPlan launch() const override {
    using operation::Param;
    operation::Step step{
        .entry = name(),
        .grid = {.units = {{extent_, op_.step}}, .units_per_block = threads_},
        .threads = threads_,
        .params = {{.kind = Param::Kind::pointer, .index = 0},
                   {.kind = Param::Kind::dim, .dim = extent_, .offset = 8},
                   {.kind = Param::Kind::scalar, .index = 0, .offset = 16, .size = 4}},
        .params_bytes = 20};
    return {.steps = {std::move(step)}, .extents = {extent_}, .elements = {{{Mode{extent_, 1}}}}};
  }
  [[nodiscard]] std::string tuning_class() const override { return "fill"; }
  [[nodiscard]] operation::Figures figures(const SymbolValues&) const override {
    return {.device = &device::device_of(target_),
            .blocks = (extent_ + threads_ - 1) / threads_,
            .bytes_moved = 4 * extent_,
            .operations = 0};
  }
  [[nodiscard]] std::string figures_json(const SymbolValues&) const override {
    return R"({"bytes_moved":)" + std::to_string(4 * extent_) + "}";
  }
  [[nodiscard]] std::string text(const SymbolValues&) const override { return name() + '\n'; }
  [[nodiscard]] operation::Explanation explain(
      const SymbolValues&, const std::optional<operation::Compiled>&) const override {
    return {.topics = {{.name = "work", .sentences = {"Every element gets one value."}}}};
  }

 private:
  static constexpr const char* kKernel = R"(
struct Params { float* y; long long extent; float value; };
extern "C" __global__ void KERNEL(const __grid_constant__ Params p) {
  const long long first = (blockIdx.x * (long long)blockDim.x + threadIdx.x) * STEP;
  for (long long i = first; i < first + STEP && i < p.extent; ++i) p.y[i] = p.value;
}
)";

  [[nodiscard]] std::string name() const { return "tilejit_" + op_.name; }

  Fill op_;
  Target target_;
  int threads_;
  std::int64_t extent_;
  operation::Signature signature_;
};

class FillDescriptor final : public operation::DescriptorOf<FillDescriptor, Fill> {
 public:
  using DescriptorOf::DescriptorOf;

  [[nodiscard]] std::span<const char* const> own_parts() const noexcept override {
    static constexpr const char* kParts[] = {"/step"};
    return kParts;
  }
  [[nodiscard]] std::uint64_t hash_of_part(std::size_t) const noexcept override {
    return operation::Hasher().add(static_cast<std::uint64_t>(value().step)).hash();
  }
  [[nodiscard]] std::string text_of_part(std::size_t) const override {
    return std::to_string(value().step);
  }
  [[nodiscard]] bool same_own_parts(const operation::Descriptor& other) const override {
    const auto* const same = dynamic_cast<const FillDescriptor*>(&other);
    return same != nullptr && same->value().step == value().step;
  }
  [[nodiscard]] std::string json() const override {
    spec::Json json = spec::common_json(name(), symbols(), tensors(), scalars());
    json["op"] = "fill";
    json["step"] = value().step;
    spec::add_tuning(json, tuning());
    return spec::text_of(json, name());
  }
  [[nodiscard]] std::vector<Access> access() const override {
    if (value().step < 1) throw Error(ErrorCode::invalid_spec, "step starts at 1", "/step");
    return {Access::out};
  }
  [[nodiscard]] std::vector<std::size_t> outputs() const override { return {0}; }
  [[nodiscard]] operation::Plan plan(const Target& target) const override {
    return planned(target, tuning());
  }
  [[nodiscard]] operation::Plan plan_with(const Tuning& tuning,
                                          const operation::Plan& plan) const override {
    return planned(plan.target, tuning);
  }
  [[nodiscard]] std::optional<operation::Plan> light_plan(const operation::Plan&) const override {
    return std::nullopt;
  }
  [[nodiscard]] std::vector<Tuning> tuning_candidates(const Target&, std::size_t) const override {
    return {{}, {.threads = 64}};
  }
  void evaluate(const HostArguments& args) const override {
    auto* const y = static_cast<float*>(args.tensors.at(0));
    std::fill_n(y, size(tensors()[0].layout).value(), args.scalars.at(0).to<float>());
  }
  [[nodiscard]] Verification verify(const HostArguments& inputs,
                                    std::span<const void* const> actual,
                                    const VerifyOptions&) const override {
    Verification result{
        .passed = true, .elements = size(tensors()[0].layout).value(), .first_mismatch = {}};
    const auto* const y = static_cast<const float*>(actual[0]);
    for (std::int64_t i = 0; i < result.elements; ++i) {
      result.mismatches += y[i] != inputs.scalars.at(0).to<float>();
    }
    result.passed = result.mismatches == 0;
    return result;
  }

 private:
  [[nodiscard]] operation::Plan planned(const Target& target, const Tuning& knobs) const {
    (void)access();
    return {.kernel_name = "tilejit_" + name(),
            .target = target,
            .body = std::make_shared<const FillBody>(value(), target, knobs.threads.value_or(256))};
  }
};

/// {"op": "fill", "tensors": ..., "scalars": ..., "step": 4}
inline Operation read_fill(const spec::Json& json, const std::string& where, const SpecOptions&,
                           spec::Problems& problems) {
  spec::ObjectReader object(json, where, problems);
  object.refuse_others({"op", "name", "tensors", "scalars", "tuning", "step"});
  spec::Common common{.name = "fill"};
  spec::read_common(object, problems, common);
  Fill op{.name = common.name,
          .tensors = common.tensors,
          .scalars = common.scalars,
          .tuning = common.tuning};
  if (const auto step = object.integer("step")) op.step = static_cast<int>(*step);
  return Operation(std::make_shared<const FillDescriptor>(std::move(op)));
}

}  // namespace tilejit::test
