#include "render/writers.hpp"

#include "attention/attention_writer.hpp"
#include "attention/warp_attention_writer.hpp"
#include "box/box_writer.hpp"
#include "light/light_writer.hpp"
#include "map/map_writer.hpp"
#include "matmul/matmul_writer.hpp"
#include "rows/rows_writer.hpp"
#include "scan/scan_writer.hpp"
#include "sheared/sheared_writer.hpp"
#include "staged/staged_writer.hpp"
#include "strips/strips_writer.hpp"
#include "thread_value/thread_value_writer.hpp"
#include "tile/tile_writer.hpp"
#include "wgmma/wgmma_writer.hpp"

namespace tilejit::render {
namespace {

using plan::Plan;

std::string header_of(const Plan& plan, const plan::Map& family, Budget& budget) {
  return MapWriter(plan, family, budget).write();
}
std::string header_of(const Plan& plan, const plan::Tile& family, Budget& budget) {
  return TileWriter(plan, family, budget).write();
}
std::string header_of(const Plan& plan, const plan::Sheared& family, Budget& budget) {
  return ShearedWriter(plan, family, budget).write();
}
std::string header_of(const Plan& plan, const plan::Box& family, Budget& budget) {
  return BoxWriter(plan, family, budget).write();
}
std::string header_of(const Plan& plan, const plan::Rows& family, Budget& budget) {
  return RowsWriter(plan, family, budget).write();
}
std::string header_of(const Plan& plan, const plan::StagedRows& family, Budget& budget) {
  return StagedWriter(plan, family, budget).write();
}
std::string header_of(const Plan& plan, const plan::Strips& family, Budget& budget) {
  return StripsWriter(plan, family, budget).write();
}
std::string header_of(const Plan& plan, const plan::Scan& family, Budget& budget) {
  return ScanWriter(plan, family, budget).write();
}
std::string header_of(const Plan& plan, const plan::Light& family, Budget& budget) {
  return LightWriter(plan, family, budget).write();
}
std::string header_of(const Plan& plan, const plan::ThreadValue& family, Budget& budget) {
  return ThreadValueWriter(plan, family, budget).write();
}
std::string header_of(const Plan& plan, const plan::MatmulMma& family, Budget& budget) {
  return MatmulMmaWriter(plan, family, budget).write();
}
std::string header_of(const Plan& plan, const plan::MatmulSimt& family, Budget& budget) {
  return MatmulSimtWriter(plan, family, budget).write();
}
std::string header_of(const Plan& plan, const plan::MatmulWgmma& family, Budget& budget) {
  return MatmulWgmmaWriter(plan, family, budget).write();
}
std::string header_of(const Plan& plan, const plan::AttentionWgmma& family, Budget& budget) {
  return AttentionWriter(plan, family, budget).write();
}
std::string header_of(const Plan& plan, const plan::AttentionMma& family, Budget& budget) {
  return WarpAttentionWriter(plan, family, budget).write();
}
std::string header_of(const Plan&, const plan::Several& several, Budget& budget) {
  std::string text;
  for (const Plan& part : several.parts) text += write_header(part, budget) + '\n';
  return text;
}

}  // namespace

std::string write_header(const Plan& plan, Budget& budget) {
  return std::visit([&](const auto& family) { return header_of(plan, family, budget); },
                    plan.family);
}

}  // namespace tilejit::render
