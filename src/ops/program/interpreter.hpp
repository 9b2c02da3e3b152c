#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "program/code.hpp"
#include "program/tile_data.hpp"

namespace tilejit::program {

/// One scalar: its value as an integer or as a double, by its dtype.
struct ScalarData {
  std::int64_t integer = 0;
  double real = 0;
};

/// A tensor in host memory, seen as a view.
struct ViewData {
  struct Leaf {
    std::int64_t extent = 1;
    std::int64_t stride = 0;
  };
  std::int64_t offset = 0;
  std::vector<std::vector<Leaf>> axes = {};  ///< per axis, the first leaf runs fastest
};

/// Runs the steps of a program, block after block. Used by one thread.
class Interpreter {
 public:
  /// Keeps views of its arguments.
  Interpreter(const TileProgram& program, const Code& code, const HostArguments& args,
              const InterpretOptions& options);

  void run();

 private:
  void check_arguments() const;
  void set_arguments();
  void zero_tensors();
  void block();
  void steps(const Steps& steps);
  void step(const Step& step);

  // A step each.
  void run_step(const SetView& step);
  void run_step(const Fill& step);
  void run_step(const Load& step);
  void run_step(const Store& step);
  void run_step(const Move& step);
  void run_step(const Gemm& step);
  void run_step(const Compute& step);
  void run_step(const Rearrange& step);
  void run_step(const SetScalar& step);
  void run_step(const Loop& step);
  void run_step(const WhileLoop& step);
  void run_step(const Branch& step);
  void run_step(const AtomicUpdate& step);
  void run_step(const PrintText& step);
  void run_step(const Check& step);
  void run_step(const Meet&) {}  // the block's steps run one after another

  [[nodiscard]] TileData evaluate(const Value& value);
  [[nodiscard]] ScalarData scalar(const Value& value);
  [[nodiscard]] std::int64_t integer(const Value& value) { return scalar(value).integer; }
  [[nodiscard]] bool condition(const Value& value);

  /// The memory offsets of the elements of a window, row-major; -1 outside the view or the mask.
  [[nodiscard]] std::vector<std::int64_t> offsets(const Window& window);
  [[nodiscard]] std::vector<std::vector<std::int64_t>> coordinates(const Window& window,
                                                                   const ViewData& view);
  [[nodiscard]] std::byte* element(int tensor, std::int64_t offset) const;
  [[nodiscard]] TileData& tile(int slot) { return tiles_[static_cast<std::size_t>(slot)]; }
  /// Gives the tile its values, rounded to its dtype.
  void assign(int slot, TileData value);
  void count(std::int64_t operations);
  void trace_tile(int slot);
  void trace(const std::string& what);
  [[nodiscard]] std::string line_text() const;
  [[noreturn]] void fail(ErrorCode code, const std::string& message) const;

  const TileProgram& program_;
  const Code& code_;
  const HostArguments& args_;
  const InterpretOptions& options_;
  std::vector<TileData> tiles_;
  std::vector<ViewData> views_;
  std::vector<ScalarData> scalars_;
  std::vector<std::int64_t> cosizes_;  // of tensors, in elements
  const Step* at_ = nullptr;
  std::int64_t block_ = 0;
  std::int64_t statements_ = 0;
  std::int64_t operations_ = 0;
  std::int64_t since_asked_ = 0;
};

}  // namespace tilejit::program
