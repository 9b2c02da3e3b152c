#include "figures/products.hpp"

#include <array>

#include "figures/of_families.hpp"
#include "figures/value.hpp"

namespace tilejit::figures {
namespace {

using plan::Operand;
using plan::OperandSource;
using plan::Plan;

/// Multiply-adds of tensor cores in a clock of one multiprocessor, without sparsity: those of f16,
/// and those of f64. NVIDIA's data sheets: 65 TFLOP/s of f16 for a T4, 312 and 19.5 for an A100,
/// 150 for an A40, 362 for an L40S, 989 and 67 for an H100, 2250 and 40 for a B200, 504 for an RTX
/// PRO 6000.
struct TensorRate {
  int device = 0;
  int of_halves = 0, of_doubles = 0;
};
constexpr std::array<TensorRate, 7> kTensorRates = {{
    {75, 512, 0},
    {80, 1024, 64},
    {86, 512, 0},
    {89, 512, 0},
    {90, 2048, 128},
    {100, 4096, 64},
    {120, 512, 0},
}};

double tensor_rate(const device::Device& device, DType type) noexcept {
  for (const TensorRate& rate : kTensorRates) {
    if (rate.device != device.number) continue;
    if (type == f64) return rate.of_doubles;
    return rate.of_halves * 2.0 / size_bytes(type);
  }
  return 0;
}

double rate_of(const Plan& plan, const plan::Matmul& product, const device::Device& device) {
  const bool by_tensor_cores = !std::holds_alternative<plan::MatmulSimt>(plan.family);
  const double rate = by_tensor_cores ? tensor_rate(device, product.a.dtype) : 0;
  return rate != 0 ? rate : product.accumulator == f64 ? device.f64 : device.f32;
}

/// Whether the tile's rows are the operand's.
bool is_left(const Plan& plan, const Operand& operand) {
  if (operand.tensor > 1) return false;  // of a pair
  const auto* wgmma = std::get_if<plan::MatmulWgmma>(&plan.family);
  return (operand.tensor == 0) != (wgmma != nullptr && wgmma->swapped);
}

void times_leaves(Product& count, const std::vector<Mode>& leaves, const SymbolValues& symbols) {
  for (const Mode& leaf : leaves) {
    if (!leaf.stride.is(0)) count.times(value_of(leaf.extent, symbols));
  }
}

}  // namespace

const OperandSource* source_of(const Plan& plan, const Operand& operand) noexcept {
  const plan::Matmul* const product = plan::matmul_of(plan);
  const plan::Weights* const weights = plan::weights_of(plan);
  if (weights != nullptr && operand.tensor == weights->key_tensor) return &weights->keys;
  if (product == nullptr || !product->multiplies(operand.tensor)) return nullptr;
  if (operand.tensor > 1) return &product->second->source;
  return is_left(plan, operand) ? &product->a : &product->b;
}

OperandFigures figures_of_source(const Plan& plan, const Operand& operand,
                                 const OperandSource& source, const SymbolValues& symbols) {
  const plan::TileShape& tile = plan::matmul_of(plan)->tile;
  const int bytes = size_bytes(source.stored);
  Product moved;
  moved.times(bytes);
  for (const auto& leaves : source.batch) times_leaves(moved, leaves, symbols);
  times_leaves(moved, source.outer, symbols);
  times_leaves(moved, source.inner, symbols);
  const std::int64_t rows = is_left(plan, operand) ? tile.m : tile.n;
  return {.name = name_of(plan, operand),
          .access_elements = source.run,
          .access_bytes = source.run * bytes,
          .bytes_in_flight = (tile.stages - 1) * rows * tile.k * bytes / plan.threads,
          .bytes_moved = moved.value()};
}

std::optional<MatrixTypes> matrices_of(const Plan& plan) noexcept {
  for (const Plan& part : plan::parts_of(plan)) {
    if (const plan::Matmul* const product = plan::matmul_of(part))
      return MatrixTypes{product->a.dtype, product->b.dtype};
  }
  return std::nullopt;
}

std::optional<double> product_ms(const Plan& plan, const device::Device& device,
                                 const SymbolValues& symbols) {
  const plan::Matmul* const product = plan::matmul_of(plan);
  if (product == nullptr) return 0;
  double count = 1;
  for (const Dim& extent : plan.extents) {
    const auto value = value_of(extent, symbols);
    if (!value) return std::nullopt;
    count *= static_cast<double>(*value);
  }
  const auto k = value_of(product->k, symbols);
  if (!k) return std::nullopt;
  const plan::Weights* const weights = plan::weights_of(plan);
  if (weights != nullptr) {  // and the scores
    count *= 1 + static_cast<double>(weights->depth.value()) / product->tile.n;
  }
  const double per_ms = device.multiprocessors * device.gigahertz * 1e6;
  count *= product->products();
  return count * static_cast<double>(*k) / (per_ms * rate_of(plan, *product, device));
}

}  // namespace tilejit::figures
