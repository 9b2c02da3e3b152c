#include "matmul/family.hpp"

#include <algorithm>

#include "core/integer.hpp"
#include "core/json_line.hpp"
#include "matmul/shared_layout.hpp"
#include "plan/plan.hpp"

namespace tilejit::plan {
namespace {

std::string text_of(const std::vector<Mode>& leaves) {
  std::string shape, stride;
  for (const Mode& leaf : leaves) {
    (shape += shape.empty() ? "" : ",") += to_string(leaf.extent);
    (stride += stride.empty() ? "" : ",") += to_string(leaf.stride);
  }
  return "(" + shape + "):(" + stride + ")";
}

void write(core::JsonLine& line, const OperandSource& source) {
  line.open('{').member("dtype", to_string(source.dtype));
  if (source.is_computed()) line.member("stored", to_string(source.stored));
  line.member("major", source.major == atoms::Major::k ? "k" : "mn").member("run", source.run);
  line.member("outer", text_of(source.outer)).member("inner", text_of(source.inner));
  line.key("batch").open('[');
  for (const std::vector<Mode>& leaves : source.batch) line.value(text_of(leaves));
  line.close(']').close('}');
}

}  // namespace

void Matmul::choose_launch(Plan& plan, const Tuning&) {
  plan.threads = tile.threads();
}

std::int64_t Matmul::unit_extent(const Plan&, std::size_t m) const noexcept {
  if (m > 1) return 1;
  return (m == 0) == along_m ? tile.m : tile.n;
}

std::vector<Dim> Matmul::compared_extents(const Plan& plan) const {
  std::vector<Dim> extents = plan.extents;
  extents.push_back(k);
  std::vector<const OperandSource*> sources = {&a, &b};
  if (second) sources.push_back(&second->source);
  for (const OperandSource* source : sources) {
    for (const Dim& dim : source->dims()) extents.push_back(dim);
  }
  return extents;
}

void Matmul::write_json(core::JsonLine& line) const {
  line.key("tile").open('[');
  for (const int number : {tile.m, tile.n, tile.k}) line.raw(std::to_string(number));
  line.close(']').key("warps").open('[');
  for (const int number : {tile.warps_m, tile.warps_n}) line.raw(std::to_string(number));
  line.close(']').member("stages", tile.stages).member("blocks", tile.blocks);
  line.member("splits", splits).member("passes", passes);
  line.member("along", along_m ? "m" : "n").member("k", to_string(k));
  line.member("accumulator", to_string(accumulator)).key("a");
  write(line, a);
  line.key("b");
  write(line, b);
  if (statistic != expr::kNoNode) line.key("statistic").raw("true");
  if (!reductions.empty()) {
    line.key("reduced_tensors").open('[');
    for (const formula::RowReduction& one : reductions) line.raw(std::to_string(one.tensor));
    line.close(']');
  }
  if (!second) return;
  line.member("second_tensor", second->tensor).key("second_is_left");
  line.raw(second->left ? "true" : "false").key("second");
  write(line, second->source);
}

void MatmulMma::write_json(core::JsonLine& line) const {
  line.member("atom", to_string(atom));
  Matmul::write_json(line);
}

const Matmul* matmul_of(const Plan& plan) noexcept {
  if (const auto* mma = std::get_if<MatmulMma>(&plan.family)) return mma;
  if (const auto* wgmma = std::get_if<MatmulWgmma>(&plan.family)) return wgmma;
  if (const auto* attention = std::get_if<AttentionWgmma>(&plan.family)) return attention;
  if (const auto* attention = std::get_if<AttentionMma>(&plan.family)) return attention;
  return std::get_if<MatmulSimt>(&plan.family);
}

bool leaves_partials(const Plan& plan) noexcept {
  const Matmul* const product = matmul_of(plan);
  return product != nullptr && product->splits > 1 &&
         !std::holds_alternative<MatmulWgmma>(plan.family);
}

int shared_bytes(const Matmul& product, bool by_tensor_cores) noexcept {
  return std::max(product.tile.stages * stage_bytes(product, by_tensor_cores),
                  exchange_bytes(product));
}

std::int64_t counter_bytes(const Plan& plan, const Matmul& product) {
  constexpr std::int64_t kAlign = 256;
  if (product.splits == 1) return 0;
  return core::ceil_div(total_units(plan) * 4, kAlign) * kAlign;
}

std::int64_t partials_bytes(const Plan& plan, const Matmul& product) {
  if (product.splits == 1) return 0;
  return counter_bytes(plan, product) + total_units(plan) * product.splits * product.tile.m *
                                            product.tile.n * size_bytes(product.accumulator);
}

}  // namespace tilejit::plan
