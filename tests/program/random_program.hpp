#pragma once

#include <random>
#include <string>
#include <vector>

#include "tilejit/program.hpp"

namespace tilejit::program {

/// Programs with every statement and clause of the language, in random order: they parse, and most
/// mean nothing. The same seed gives the same program.
class RandomProgram {
 public:
  explicit RandomProgram(std::uint64_t seed) : random_(seed) {}

  TileProgram make();

 private:
  int below(int count) { return static_cast<int>(random_() % static_cast<std::uint64_t>(count)); }
  bool chance(int percent) { return below(100) < percent; }
  template <typename T>
  const T& one_of(const std::vector<T>& items) {
    return items[static_cast<std::size_t>(below(static_cast<int>(items.size())))];
  }
  std::string name();
  std::string text();
  TileExpression expression(int depth = 2);
  std::vector<TileExpression> expressions(int most = 3);
  Number number();
  DType dtype() { return kAllDTypes[below(static_cast<int>(std::size(kAllDTypes)))]; }
  std::vector<int> axes();
  TileIndex index();
  TileStatement statement(int depth);
  TileStatement::Kind kind(int depth);
  TileBody body(int depth);
  TileReshape reshape();

  std::mt19937_64 random_;
};

}  // namespace tilejit::program
