#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "program/code.hpp"
#include "program/source.hpp"

namespace tilejit::program {

/// What is known of a tile's values.
struct Facts {
  bool filled = false;                     ///< it has values
  std::optional<std::size_t> ragged = {};  ///< place of a copy that may leave some undefined
  bool product = false;                    ///< fragments of a product's result
  std::vector<std::string> axes = {};  ///< the symbol each axis was cut from; "" if there is none
};

struct TileBinding {
  int slot = -1;
  bool declared = false;  ///< by Allocate: keeps its dtype and shape
  std::size_t level = 0;
  Facts facts = {};
};

struct ViewBinding {
  int slot = -1;
  std::size_t level = 0;
  std::vector<std::string> extents = {};     ///< the symbol or number of each axis; or ""
  std::vector<std::int64_t> multiples = {};  ///< each extent is a multiple of this
  std::vector<std::optional<std::int64_t>> known = {};  ///< known extents
};

/// What the names mean at one place of the program. Every failure is an Error{invalid_formula} with
/// a line and a caret.
class Scope {
 public:
  /// Keeps views of its arguments. `constants` have the values that tuning chose.
  Scope(const TileProgram& program, const std::vector<TileConstant>& constants,
        const expr::FunctionTable& functions, const Source& source, Code& code);

  // Blocks of statements. Names made in a block end with it.
  void open(std::size_t place);
  void close();
  [[nodiscard]] std::size_t level() const noexcept { return opened_.size(); }

  /// The tile that a statement reads: in registers, else shared. Fails if there is none, or if it
  /// has no values yet.
  TileBinding& read_tile(const std::string& name, const TilePlace& statement,
                         std::string_view after = {});
  [[nodiscard]] TileBinding* find_tile(const std::string& name, TileSpace space);
  /// The tile that a statement makes, with these values.
  TileBinding& make_tile(const std::string& name, TileSpace space, const TileType& type,
                         const TilePlace& statement);
  TileBinding& declare_tile(const std::string& name, TileSpace space, const TileType& type,
                            const TilePlace& statement);
  ViewBinding& read_view(const std::string& name, const TilePlace& statement,
                         std::string_view after = {});
  ViewBinding& declare_view(const std::string& name, ViewBinding view, const TilePlace& statement);
  /// A new scalar slot for `name`, or a value that is known.
  int make_scalar(const std::string& name, DType dtype, const TilePlace& statement);
  void make_known(const std::string& name, const expr::Weak& value, const TilePlace& statement);

  /// A tile expression over `space`, or over the shapes of its tiles; converted to `stored`.
  Value tile_value(const expr::SourceText& text, const std::optional<Extents>& space,
                   std::optional<DType> stored);
  Value scalar_value(const TileExpression& expression, const std::string& what);
  /// The same of a text that is not in the program, such as an extent of a layout.
  Value scalar_of(const std::string& text);
  /// A condition: a scalar expression that may read tiles of one element.
  Value condition(const TileExpression& expression, const std::string& what);
  /// A scalar of an integer type.
  Value integer(const TileExpression& expression, const std::string& what);
  /// An integer from 1 that is known before the launch.
  std::int64_t extent(const TileExpression& expression);
  /// The names that are integers and known before the launch.
  [[nodiscard]] SymbolValues known_integers() const;
  /// Whether the tiles in `text` have the facts, joined.
  Facts facts_of(std::string_view text);

  [[nodiscard]] const Source& source() const noexcept { return source_; }
  [[nodiscard]] Code& code() noexcept { return code_; }
  [[nodiscard]] const TileProgram& program() const noexcept { return program_; }
  [[nodiscard]] int tensor_index(std::string_view name) const;
  /// The number that the value is always a multiple of.
  [[nodiscard]] std::int64_t multiple_of(const Value& value) const {
    return program::multiple_of(value, code_);
  }
  [[nodiscard]] bool is_used(std::string_view name) const { return used_.contains(name); }

  int in_thread = 0;  ///< inside that many branches that each thread takes for itself

 private:
  struct Scalar {
    std::optional<expr::Weak> known = {};
    int slot = -1;
    std::size_t level = 0;
  };
  struct Tiles {
    std::optional<TileBinding> shared = {}, registers = {};
  };

  [[nodiscard]] std::optional<expr::Operand> operand(std::string_view name, std::size_t position,
                                                     const expr::SourceText& text);
  [[nodiscard]] std::optional<expr::Operand> builtin(std::string_view name, std::size_t position,
                                                     const expr::SourceText& text);
  TileBinding* tile_of(std::string_view name);
  void check_new_name(const std::string& name, const TilePlace& statement, bool is_scalar);
  [[noreturn]] void fail_no_tile(const std::string& name, const TilePlace& statement,
                                 std::string_view after);
  [[nodiscard]] std::string advice_for(std::string_view name) const;
  [[nodiscard]] std::vector<std::string_view> known_names() const;
  [[nodiscard]] Extents space_of(const expr::SourceText& text);
  Value compiled(const expr::SourceText& text, const Extents& space, std::optional<DType> stored,
                 bool tiles_allowed, const std::string& what);

  const TileProgram& program_;
  const expr::FunctionTable& functions_;
  const Source& source_;
  Code& code_;
  std::map<std::string, Tiles, std::less<>> tiles_;
  std::map<std::string, ViewBinding, std::less<>> views_;
  std::map<std::string, Scalar, std::less<>> scalars_;
  std::map<std::string, std::size_t, std::less<>> ended_;  // names of closed blocks, their places
  std::vector<std::size_t> opened_;                        // places of the open blocks
  std::set<std::string, std::less<>> used_;
};

}  // namespace tilejit::program
