#pragma once

#include <cstddef>
#include <string>

#include "spec/json_text.hpp"
#include "spec/object_reader.hpp"
#include "spec/problems.hpp"
#include "tilejit/program.hpp"

namespace tilejit::program {

/// Reads statements. Faults go to `problems`.
class BodyReader {
 public:
  explicit BodyReader(spec::Problems& problems) : problems_(problems) {}

  [[nodiscard]] TileBody body(const spec::Json& json, const std::string& where);

 private:
  TileStatement statement(const spec::Json& json, const std::string& where);
  TileStatement::Kind kind(const std::string& op, spec::ObjectReader& object);
  TileAllocate allocate(spec::ObjectReader& object);
  TileCopy copy(spec::ObjectReader& object);
  TileGemm gemm(spec::ObjectReader& object);
  TileCompute compute(spec::ObjectReader& object);
  TileReduce reduce(spec::ObjectReader& object);
  TileScan scan(spec::ObjectReader& object);
  TileReshape reshape(spec::ObjectReader& object);
  void extract(spec::ObjectReader& object, TileReshape& reshape);
  TileFor loop(spec::ObjectReader& object);
  TileIf branch(spec::ObjectReader& object);
  TileAtomic atomic(spec::ObjectReader& object);
  TileIndex index(spec::ObjectReader& object);
  std::optional<ThreadValueLayouts> tv(spec::ObjectReader& object);

  [[nodiscard]] std::string name(spec::ObjectReader& object, std::string_view key);
  [[nodiscard]] std::string optional_name(spec::ObjectReader& object, std::string_view key);
  [[nodiscard]] TileExpression expression(spec::ObjectReader& object, std::string_view key);
  [[nodiscard]] std::optional<TileExpression> optional_expression(spec::ObjectReader& object,
                                                                  std::string_view key);
  [[nodiscard]] TileExpression expression_of(const spec::Json& json, const std::string& where);
  [[nodiscard]] std::vector<TileExpression> expressions(spec::ObjectReader& object,
                                                        std::string_view key);
  [[nodiscard]] std::vector<TileExpression> expressions_of(const spec::Json& json,
                                                           const std::string& where);
  [[nodiscard]] std::vector<int> integers(spec::ObjectReader& object, std::string_view key);
  [[nodiscard]] std::optional<int> integer(spec::ObjectReader& object, std::string_view key);
  template <typename Words, typename Value>
  void word(spec::ObjectReader& object, std::string_view key, const Words& words, Value& value);
  TileBody member_body(spec::ObjectReader& object, std::string_view key);

  spec::Problems& problems_;
  std::size_t statements_ = 0;
};

/// An expression as a member: an integer if it is one.
[[nodiscard]] spec::Json expression_json(const TileExpression& expression);
[[nodiscard]] spec::Json expressions_json(const std::vector<TileExpression>& expressions);
[[nodiscard]] spec::Json body_json(const TileBody& body);

/// Reads an expression: a string, a number or a bool. Adds a fault for any other value, and for an
/// expression that does not parse.
[[nodiscard]] TileExpression read_expression(const spec::Json& json, const std::string& where,
                                             spec::Problems& problems);

}  // namespace tilejit::program
