#include "program/compiler.hpp"

#include <algorithm>

#include "core/json_pointer.hpp"

namespace tilejit::program {
namespace {

constexpr std::int64_t kMostShared = 227 * 1024;  // bytes of a block, on the device with the most
constexpr std::int64_t kMostRegisters = 255 * 4;  // bytes of a thread

}  // namespace

std::string_view kind_of(const TileStatement::Kind& statement) {
  constexpr std::string_view kNames[] = {
      "Allocate", "Copy",  "Compute", "Compute", "Compute", "Compute", "Reshape", "Let",
      "for",      "while", "if",      "Atomic",  "Print",   "Assert",  "Barrier", "#"};
  static_assert(std::size(kNames) == std::variant_size_v<TileStatement::Kind>);
  return kNames[statement.index()];
}

Steps Compiler::body(const TileBody& body, const std::string& where) {
  Steps steps;
  if (uses_.empty()) uses_.resize(scope_.program().tensors.size());
  for (std::size_t i = 0; i < body.size(); ++i) {
    if (std::holds_alternative<TileComment>(body[i].kind)) continue;
    place_ = body[i].place;
    where_ = core::pointer_to(where, std::to_string(i));
    if (json_) source_.set_where(where_);
    statement(body[i], steps);
  }
  return steps;
}

void Compiler::statement(const TileStatement& statement, Steps& steps) {
  if (scope_.in_thread > 0) refuse_in_thread(statement);
  const auto& kind = statement.kind;
  if (const auto* const s = std::get_if<TileAllocate>(&kind)) return allocate(*s, steps);
  if (const auto* const s = std::get_if<TileCopy>(&kind)) return copy(*s, steps);
  if (const auto* const s = std::get_if<TileGemm>(&kind)) return gemm(*s, steps);
  if (const auto* const s = std::get_if<TileCompute>(&kind)) return compute(*s, steps);
  if (const auto* const s = std::get_if<TileReduce>(&kind)) return reduce(*s, steps);
  if (const auto* const s = std::get_if<TileScan>(&kind)) return scan(*s, steps);
  if (const auto* const s = std::get_if<TileReshape>(&kind)) return reshape(*s, steps);
  if (const auto* const s = std::get_if<TileLet>(&kind)) return let(*s, steps);
  if (const auto* const s = std::get_if<TileFor>(&kind)) return loop(*s, steps);
  if (const auto* const s = std::get_if<TileWhile>(&kind)) return while_loop(*s, steps);
  if (const auto* const s = std::get_if<TileIf>(&kind)) return branch(*s, steps);
  if (const auto* const s = std::get_if<TileAtomic>(&kind)) return atomic(*s, steps);
  if (const auto* const s = std::get_if<TilePrint>(&kind)) return print(*s, steps);
  if (const auto* const s = std::get_if<TileAssert>(&kind)) return assertion(*s, steps);
  if (std::holds_alternative<TileBarrier>(kind)) return add(steps, Meet{});
}

void Compiler::refuse_in_thread(const TileStatement& statement) const {
  const auto& kind = statement.kind;
  if (std::holds_alternative<TileBarrier>(kind)) {
    fail(
        "Barrier",
        "a barrier in a branch that not all threads of the block take would wait for ever; move it "
        "out of the 'if'");
  }
  const bool allowed =
      std::holds_alternative<TileLet>(kind) || std::holds_alternative<TileFor>(kind) ||
      std::holds_alternative<TileWhile>(kind) || std::holds_alternative<TileIf>(kind) ||
      std::holds_alternative<TilePrint>(kind) || std::holds_alternative<TileAssert>(kind);
  if (allowed) return;
  const std::string word(kind_of(kind));
  fail(word, "'" + word +
                 "' is work of the whole block, and stands in an 'if' that each thread "
                 "decides for itself; move it out, or let the condition name no thread");
}

void Compiler::check_budget(std::optional<std::int64_t> threads) const {
  const std::vector<TileSlot>& tiles = scope_.code().tiles;
  std::int64_t shared = 0;
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    const TileSlot& tile = tiles[i];
    const std::int64_t bytes = count_of(tile.type.shape) * size_bytes(tile.type.dtype);
    if (tile.space == TileSpace::shared) {
      const auto buffers = buffers_.find(static_cast<int>(i));
      shared += bytes * (buffers == buffers_.end() ? 1 : buffers->second);
      if (shared > kMostShared) {
        source_.fail_at(tile.place,
                        "with '" + tile.name + "' the tiles in shared memory take " +
                            std::to_string(shared) + " bytes, and a block has at most " +
                            std::to_string(kMostShared) + "; use smaller tiles, or fewer stages");
      }
    } else if (threads && bytes / *threads > kMostRegisters) {
      source_.fail_at(tile.place,
                      "tile '" + tile.name + "' takes " + std::to_string(bytes / *threads) +
                          " bytes of registers of each of " + std::to_string(*threads) +
                          " threads, which have at most " + std::to_string(kMostRegisters) +
                          "; use a smaller tile, or more threads: Block (256)");
    }
  }
}

}  // namespace tilejit::program
