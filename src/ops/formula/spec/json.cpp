#include "formula/json.hpp"

#include <algorithm>
#include <utility>

#include "spec/common.hpp"

namespace tilejit::formula {
namespace {

using spec::Json;
using spec::ObjectReader;
using spec::Problems;

/// Reads one descriptor.
class FusedReader {
 public:
  FusedReader(const Json& json, std::string where, Problems& problems)
      : object_(json, std::move(where), problems), problems_(problems) {}

  Fused read() {
    object_.refuse_others({"$schema", "description", "name", "op", "symbols", "tensors", "scalars",
                           "functions", "formula", "axis", "tuning", "tv", "sweep"});
    spec::Common common{.name = op_.name};
    spec::read_common(object_, problems_, common);
    op_.name = std::move(common.name);
    op_.symbols = std::move(common.symbols);
    op_.tensors = std::move(common.tensors);
    op_.scalars = std::move(common.scalars);
    op_.tuning = std::move(common.tuning);
    read_functions();
    read_formula();
    read_axis();
    return std::move(op_);
  }

 private:
  void read_functions() {
    object_.members("functions",
                    [&](const std::string& name, const Json& json, const std::string& where) {
                      ObjectReader object(json, where, problems_);
                      object.refuse_others({"args", "expr"});
                      Function function{.name = name};
                      if (object.find("expr") == nullptr)
                        object.missing("expr", "\"where(a*b > 0, a*b, 0)\"");
                      if (auto expr = object.text("expr")) function.expr = std::move(*expr);
                      if (object.find("args") == nullptr) object.missing("args", R"(["a", "b"])");
                      spec::read_strings(object, "args", function.args);
                      op_.functions.push_back(std::move(function));
                    });
  }

  void read_formula() {
    const Json* const formula = object_.find("formula");
    if (formula == nullptr) {
      object_.missing("formula", "\"c = a + b\"");
    } else if (formula->is_string()) {
      op_.formula = formula->get<std::string>();
    } else {
      std::vector<std::string> lines;
      if (!formula->is_array()) return object_.wrong("formula", "a string or a list of strings");
      spec::read_strings(object_, "formula", lines);
      for (const std::string& line : lines) op_.formula += (op_.formula.empty() ? "" : "\n") + line;
    }
  }

  void read_axis() {
    const Json* const json = object_.find("axis");
    if (json == nullptr) return;
    const bool is_list = json->is_array() && !json->empty();
    const bool good = is_list ? std::ranges::all_of(*json, is_small) : is_small(*json);
    if (!good) return object_.wrong("axis", "an integer such as -1, or a list of them");
    if (!is_list) return op_.axis.push_back(json->get<int>());
    for (const Json& item : *json) op_.axis.push_back(item.get<int>());
  }
  static bool is_small(const Json& json) {
    return json.is_number_integer() && json >= -1000 && json <= 1000;
  }

  ObjectReader object_;
  Problems& problems_;
  Fused op_;
};

}  // namespace

Fused read_fused(const Json& json, const std::string& where, Problems& problems) {
  return FusedReader(json, where, problems).read();
}

std::string to_json(const Fused& op) {
  Json json = spec::common_json(op.name, op.symbols, op.tensors, op.scalars);
  for (const Function& function : op.functions) {
    json["functions"][function.name] = {{"args", function.args}, {"expr", function.expr}};
  }
  json["formula"] = op.formula;
  if (op.axis.size() == 1) json["axis"] = op.axis.front();
  if (op.axis.size() > 1) json["axis"] = op.axis;
  spec::add_tuning(json, op.tuning);
  return spec::text_of(json, op.name);
}

}  // namespace tilejit::formula
