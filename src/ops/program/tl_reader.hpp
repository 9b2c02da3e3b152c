#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "program/tl_cursor.hpp"
#include "tilejit/program.hpp"

namespace tilejit::program {

inline constexpr std::size_t kMostTextBytes = std::size_t{1} << 20;
inline constexpr int kMostStatements = 10'000;
inline constexpr int kMostLevels = 64;

/// Reads a TL text. Throws Error{invalid_formula} with line and caret.
[[nodiscard]] TileProgram read_tl(std::string_view text);

/// The header: from Kernel to Verify. Comments that stand before or beside a line become notes.
class HeaderReader {
 public:
  HeaderReader(Cursor& cursor, TileProgram& program) : at_(cursor), program_(program) {}

  /// Reads one line, if the cursor is at one of the header. Returns what a note about it is at.
  [[nodiscard]] std::optional<std::string> line();

 private:
  std::string kernel();
  std::string symbols();
  std::string tensor();
  Layout tensor_layout();
  std::string scalar();
  std::string constants();
  std::string function();
  std::string launch();
  std::string values(std::vector<TileValues>& list, const std::string& word);
  std::string verify();

  Cursor& at_;
  TileProgram& program_;
};

/// Statements, up to the end of the text.
class StatementReader {
 public:
  explicit StatementReader(Cursor& cursor) : at_(cursor) {}

  /// A statement at the cursor, without its comment.
  [[nodiscard]] TileStatement statement();

 private:
  TileBody body(std::initializer_list<std::string_view> ends, std::string_view opened,
                std::size_t position);
  TileAllocate allocate();
  TileCopy copy();
  void copy_clauses(TileCopy& copy);
  TileIndex index();
  TileStatement::Kind compute();
  TileGemm gemm();
  std::pair<std::string, bool> operand();
  TileStatement::Kind reduce(TileReduce::Kind kind);
  TileStatement::Kind scan(TileScan::Kind kind);
  TileCompute called(std::string function);
  std::string result();
  TileReshape reshape();
  void reshape_part(TileReshape& reshape);
  std::vector<std::string> roles();
  TileFor loop();
  TileWhile while_loop();
  TileIf branch();
  TileAtomic atomic();
  TilePrint print();
  TileAssert assertion();

  Cursor& at_;
  int statements_ = 0;
  int levels_ = 0;
  std::size_t begin_ = 0;        // of the statement that was begun last
  std::string opening_comment_;  // beside the 'for', 'while' or 'if' that was read last
};

}  // namespace tilejit::program
