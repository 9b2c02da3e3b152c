// Programs from JSON.
#include <algorithm>
#include <limits>
#include <utility>

#include "program/json.hpp"
#include "program/json_statements.hpp"
#include "program/style.hpp"
#include "program/tl_reader.hpp"
#include "spec/common.hpp"

namespace tilejit::program {
namespace {

using core::pointer_to;
using spec::Json;
using spec::ObjectReader;
using spec::Problems;

class ProgramReader {
 public:
  ProgramReader(const Json& json, std::string where, Problems& problems)
      : object_(json, std::move(where), problems), problems_(problems) {}

  TileProgram read() {
    if (object_.find("text") != nullptr) return of_text();
    object_.refuse_others({"$schema", "description", "name", "op", "symbols", "tensors", "scalars",
                           "constants", "functions", "zeroed", "launch", "tune", "verify", "body",
                           "comments", "tuning", "sweep"});
    spec::Common common{.name = program_.name};
    spec::read_common(object_, problems_, common);
    program_.name = std::move(common.name);
    program_.symbols = std::move(common.symbols);
    program_.tensors = std::move(common.tensors);
    program_.scalars = std::move(common.scalars);
    program_.tuning = std::move(common.tuning);
    read_constants();
    read_sweep();
    read_functions();
    spec::read_strings(object_, "zeroed", program_.zeroed);
    read_launch();
    read_tune();
    read_verify();
    read_notes();
    if (const Json* const body = object_.find("body")) {
      program_.body = BodyReader(problems_).body(*body, object_.at("body"));
    } else {
      object_.missing("body", R"_([{"op": "copy", ...}], or the program's TL text as "text")_");
    }
    return std::move(program_);
  }

 private:
  /// TL text, with values for its constants.
  TileProgram of_text() {
    object_.refuse_others(
        {"$schema", "description", "op", "name", "text", "constants", "sweep", "tuning"});
    const auto text = object_.text("text");
    if (!text) return {};
    try {
      program_ = read_tl(*text);
    } catch (const Error& error) {
      problems_.add(error, object_.at("text"));
      return {};
    }
    program_.sweep.clear();
    if (auto name = object_.text("name")) program_.name = std::move(*name);
    std::vector<TileConstant> declared = std::exchange(program_.constants, {});
    read_constants();
    for (TileConstant& constant : program_.constants) {
      std::erase_if(declared, [&](const TileConstant& one) { return one.name == constant.name; });
    }
    std::ranges::move(declared, std::back_inserter(program_.constants));
    return std::move(program_);
  }

  Number number(const Json& json, const std::string& where) {
    if (json.is_number_unsigned() && json.get<std::uint64_t>() > INT64_MAX) {
      return json.get<std::uint64_t>();
    }
    if (json.is_number_integer()) return json.get<std::int64_t>();
    if (json.is_number()) return json.get<double>();
    if (json.is_boolean()) return static_cast<int>(json.get<bool>());
    if (json == "inf" || json == "-inf") {
      const double inf = std::numeric_limits<double>::infinity();
      return json == "inf" ? inf : -inf;
    }
    problems_.add(ErrorCode::invalid_spec, "a constant is a number", where);
    return 0;
  }

  void read_constants() {
    object_.members("constants",
                    [&](const std::string& name, const Json& json, const std::string& where) {
                      program_.constants.push_back({name, number(json, where)});
                    });
  }

  void read_values(const Json& json, const std::string& name, const std::string& where,
                   std::vector<TileValues>& list) {
    TileValues& values = list.emplace_back(TileValues{.name = name});
    if (!json.is_array()) {
      problems_.add(ErrorCode::invalid_spec, "expected a list of values, such as [64, 128]", where);
      return;
    }
    for (std::size_t i = 0; i < json.size(); ++i) {
      values.values.push_back(number(json[i], pointer_to(where, std::to_string(i))));
    }
  }

  void read_sweep() {
    object_.members("sweep",
                    [&](const std::string& name, const Json& json, const std::string& where) {
                      read_values(json, name, where, program_.sweep);
                    });
  }

  void read_tune() {
    object_.members("tune",
                    [&](const std::string& name, const Json& json, const std::string& where) {
                      read_values(json, name, where, program_.tune);
                    });
  }

  void read_functions() {
    object_.members("functions",
                    [&](const std::string& name, const Json& json, const std::string& where) {
                      ObjectReader object(json, where, problems_);
                      object.refuse_others({"args", "expr"});
                      Function function{.name = name};
                      if (object.find("expr") == nullptr) {
                        object.missing("expr", "\"where(a*b > 0, a*b, 0)\"");
                      }
                      if (auto expr = object.text("expr")) function.expr = styled(*expr);
                      spec::read_strings(object, "args", function.args);
                      program_.functions.push_back(std::move(function));
                    });
  }

  void read_sizes(ObjectReader& launch, const char* key, std::vector<TileExpression>& sizes) {
    const Json* const json = launch.find(key);
    if (json == nullptr) return;
    sizes.clear();
    if (!json->is_array()) {
      return sizes.push_back(read_expression(*json, launch.at(key), problems_));
    }
    for (std::size_t i = 0; i < json->size(); ++i) {
      sizes.push_back(
          read_expression((*json)[i], pointer_to(launch.at(key), std::to_string(i)), problems_));
    }
  }

  void read_launch() {
    const Json* const json = object_.find("launch");
    if (json == nullptr) return;
    ObjectReader launch(*json, object_.at("launch"), problems_);
    launch.refuse_others({"grid", "block", "cluster", "min_blocks", "order"});
    read_sizes(launch, "grid", program_.launch.grid);
    read_sizes(launch, "block", program_.launch.block);
    if (const Json* const cluster = launch.find("cluster")) {
      program_.launch.cluster = read_expression(*cluster, launch.at("cluster"), problems_);
    }
    const auto blocks = launch.integer("min_blocks").value_or(0);
    program_.launch.min_blocks = static_cast<int>(std::clamp<std::int64_t>(blocks, -1, 1 << 20));
    if (auto order = launch.text("order")) program_.launch.order = std::move(*order);
  }

  void read_verify() {
    const Json* const json = object_.find("verify");
    if (json == nullptr) return;
    std::vector<std::string> lines;
    if (json->is_string()) {
      lines.push_back(json->get<std::string>());
    } else {
      spec::read_strings(object_, "verify", lines);
    }
    for (const std::string& line : lines) program_.verify.emplace_back(line);
  }

  void read_notes() {
    const Json* const json = object_.find("comments");
    if (json == nullptr) return;
    if (!json->is_array()) return object_.wrong("comments", "a list");
    for (std::size_t i = 0; i < json->size() && !problems_.full(); ++i) {
      ObjectReader note((*json)[i], pointer_to(object_.at("comments"), std::to_string(i)),
                        problems_);
      note.refuse_others({"at", "text", "same_line"});
      program_.notes.push_back({.at = note.text("at").value_or(""),
                                .text = note.text("text").value_or(""),
                                .same_line = note.boolean("same_line").value_or(false)});
    }
  }

  ObjectReader object_;
  Problems& problems_;
  TileProgram program_;
};

}  // namespace

TileProgram read_json(const Json& json, const std::string& where, Problems& problems) {
  return ProgramReader(json, where, problems).read();
}

Operation read_program(const Json& json, const std::string& where, const SpecOptions&,
                       Problems& problems) {
  Problems own;
  const TileProgram program = read_json(json, where, own);
  if (own.empty()) return program;
  problems.add(std::move(own));
  return Fused{};
}

}  // namespace tilejit::program
