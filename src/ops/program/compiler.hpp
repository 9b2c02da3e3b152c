#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "program/code.hpp"
#include "program/scope.hpp"

namespace tilejit::program {

/// Turns statements into steps, and checks them. Fails with Error{invalid_formula}: the line, a
/// caret, and what to do.
class Compiler {
 public:
  /// `json` : messages name places of a JSON descriptor.
  Compiler(Scope& scope, Source& source, bool json) : scope_(scope), source_(source), json_(json) {}

  [[nodiscard]] Steps body(const TileBody& body, const std::string& where);

  /// How the program uses each tensor, in the order of the header.
  struct Use {
    bool loaded = false, stored = false, updated = false;
    TilePlace place = {};  ///< of the first store or update
  };
  [[nodiscard]] const std::vector<Use>& uses() const noexcept { return uses_; }
  [[nodiscard]] bool prints() const noexcept { return prints_; }
  /// Checks what shared memory and registers hold, with `threads` per block if that is known.
  void check_budget(std::optional<std::int64_t> threads) const;

 private:
  void statement(const TileStatement& statement, Steps& steps);
  void refuse_in_thread(const TileStatement& statement) const;
  void add(Steps& steps, Step::Kind kind) { steps.push_back({std::move(kind), place_}); }
  [[noreturn]] void fail(std::string_view word, const std::string& message,
                         std::string_view after = {}) const {
    source_.fail(place_, word, message, after);
  }

  // compile_copies.cpp
  void allocate(const TileAllocate& made, Steps& steps);
  void allocate_view(const TileAllocate& made, Steps& steps);
  void allocate_tile(const TileAllocate& made, Steps& steps);
  void copy(const TileCopy& copy, Steps& steps);
  void load(const TileCopy& copy, Steps& steps);
  void store(const TileCopy& copy, Steps& steps);
  void stage(const TileCopy& copy, Steps& steps);
  void check_staged_load(const TileCopy& copy, const std::string& name);
  /// The layouts of 'tv', with the values of the constants in them, which cover the tile.
  [[nodiscard]] std::optional<ThreadValueLayouts> known_tv(const TileCopy& copy,
                                                           const Extents& tile) const;
  Window window(const std::string& tensor, const std::vector<TileExpression>& tile,
                const TileIndex& index, const std::vector<int>& order,
                const std::optional<TileExpression>& mask, std::string_view after);
  void check_window(const ViewBinding& view, const std::string& tensor, const Window& window,
                    const TileIndex& index, std::string_view after) const;
  [[nodiscard]] bool may_be_ragged(const ViewBinding& view, const Window& window) const;
  Use& use_of(const std::string& tensor);
  /// Gives the tile `name` values of `dtype` and `shape`, as a declared one or a new one.
  TileBinding& fill(const std::string& name, TileSpace space, const TileType& type, Facts facts);

  // compile_atomic.cpp
  void atomic(const TileAtomic& atomic, Steps& steps);

  // compile_values.cpp
  void compute(const TileCompute& compute, Steps& steps);
  void call(const TileCompute& compute, Steps& steps);
  void reduce(const TileReduce& reduce, Steps& steps);
  void scan(const TileScan& scan, Steps& steps);
  void assign(const std::string& out, const expr::SourceText& text, Facts facts, bool drop_axes,
              const std::vector<int>& axes, Steps& steps);
  template <typename Make>
  auto synthetic(const Make& make);
  void refuse_ragged(const TileBinding& tile, const std::string& name, const std::string& what,
                     std::string_view after) const;
  [[nodiscard]] std::vector<int> axes_of(const TileBinding& tile, const std::vector<int>& axes);

  // compile_gemm.cpp
  void gemm(const TileGemm& gemm, Steps& steps);
  void check_gemm_shapes(const TileGemm& gemm, const TileBinding& a, const TileBinding& b,
                         const TileBinding& out) const;
  void check_gemm_types(const TileGemm& gemm, DType a, DType b, DType out) const;
  void check_gemm_axes(const TileGemm& gemm, const TileBinding& a, const TileBinding& b) const;
  void check_operand(const std::string& name, const TileBinding& tile,
                     std::string_view after) const;

  // compile_reshape.cpp
  void reshape(const TileReshape& reshape, Steps& steps);
  Extents reshaped(const TileReshape& reshape, const TileType& from, Rearrange& made);
  Extents extracted(const TileReshape& reshape, const TileType& from, Rearrange& made);
  void check_roles(const TileReshape& reshape) const;

  // compile_control.cpp
  void let(const TileLet& let, Steps& steps);
  void loop(const TileFor& loop, Steps& steps);
  void while_loop(const TileWhile& loop, Steps& steps);
  void branch(const TileIf& branch, Steps& steps);
  void print_tuple(const IntTuple& tuple, PrintText& step);
  void print_argument(const TileExpression& argument, PrintText& step);
  void print(const TilePrint& print, Steps& steps);
  void assertion(const TileAssert& assertion, Steps& steps);
  [[nodiscard]] bool names_thread(const TileExpression& condition) const;

  Scope& scope_;
  Source& source_;
  bool json_;
  TilePlace place_ = {};    // of the statement
  std::string where_ = {};  // of the statement in JSON
  std::vector<Use> uses_;
  bool prints_ = false;
  int stages_ = 1;                // of the innermost loop
  std::set<std::string> staged_;  // shared tiles loaded in this pipelined loop
  std::map<int, int> buffers_;    // shared tile slot: how many buffers it needs
};

/// The text that `statement` begins with, for messages.
[[nodiscard]] std::string_view kind_of(const TileStatement::Kind& statement);

}  // namespace tilejit::program
