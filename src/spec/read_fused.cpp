#include "spec/read_fused.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "spec/analysis.hpp"
#include "spec/object_reader.hpp"
#include "spec/tuning.hpp"

namespace tilejit::spec {
namespace {

constexpr int kMaxLeaves = 64;  // of a tensor, as in layout text

/// Reads one descriptor. Symbols may be declared in "symbols" or where a shape uses them.
class FusedReader {
 public:
  FusedReader(const Json& json, std::string where, Problems& problems)
      : object_(json, std::move(where), problems), problems_(problems) {}

  Fused read() {
    object_.refuse_others({"$schema", "description", "name", "op", "symbols", "tensors", "scalars",
                           "functions", "formula", "axis", "tuning", "tv", "sweep"});
    if (const auto kind = object_.text("op"); kind && *kind != "fused") {
      problems_.add(ErrorCode::invalid_spec,
                    "unknown operation " + in_quotes(*kind) + "; use \"fused\"", object_.at("op"));
    }
    if (auto name = object_.text("name")) op_.name = std::move(*name);
    (void)object_.text("$schema");
    (void)object_.text("description");
    read_symbols();
    read_tensors();
    read_scalars();
    read_functions();
    read_formula();
    read_axis();
    read_tuning();
    return std::move(op_);
  }

 private:
  void read_symbols() {
    object_.members("symbols",
                    [&](const std::string& name, const Json& json, const std::string& where) {
                      op_.symbols.push_back({.name = name});
                      read_facts(json, where, op_.symbols.back());
                    });
  }

  void read_facts(const Json& json, const std::string& where, Symbol& symbol) {
    ObjectReader facts(json, where, problems_);
    facts.refuse_others({"divisible_by", "example"});
    if (const auto divisor = facts.integer("divisible_by")) {
      // Two promises about one symbol hold together.
      const bool positive = *divisor > 0 && symbol.divisible_by > 0 && *divisor <= INT32_MAX;
      symbol.divisible_by = positive ? std::lcm(symbol.divisible_by, *divisor) : *divisor;
    }
    if (const auto example = facts.integer("example")) symbol.example = *example;
  }

  Symbol& symbol_named(const std::string& name) {
    const auto found = std::ranges::find(op_.symbols, name, &Symbol::name);
    if (found != op_.symbols.end()) return *found;
    return op_.symbols.emplace_back(Symbol{.name = name});
  }

  void read_tensors() {
    if (object_.find("tensors") == nullptr) {
      object_.missing("tensors", R"({"x": {"dtype": "f16", "shape": [1024]}})");
    }
    const Json* const tensors = object_.find("tensors");
    if (tensors != nullptr && tensors->is_object() && tensors->size() > kMaxTensors) {
      // Said here already: the symbols of so many shapes would take long to read.
      problems_.add(ErrorCode::invalid_spec,
                    "an operation has 1 to 64 tensors, found " + std::to_string(tensors->size()),
                    object_.at("tensors"));
      return;
    }
    object_.members("tensors",
                    [&](const std::string& name, const Json& json, const std::string& where) {
                      op_.tensors.push_back(read_tensor(name, json, where));
                    });
  }

  Tensor read_tensor(const std::string& name, const Json& json, const std::string& where) {
    ObjectReader object(json, where, problems_);
    object.refuse_others({"dtype", "layout", "shape", "stride", "order", "access", "align"});
    Tensor tensor{.name = name};
    if (object.find("dtype") == nullptr) object.missing("dtype", "\"f16\"");
    tensor.dtype = read_dtype(object, "dtype");
    if (const auto align = object.integer("align")) {
      tensor.align = static_cast<int>(std::clamp<std::int64_t>(*align, -1, 1 << 20));
    }
    if (const auto access = object.text("access"))
      tensor.access = read_access(*access, object.at("access"));
    try {
      tensor.layout = read_layout(object);
    } catch (const Error& error) {
      problems_.add(error, object.at(object.find("layout") ? "layout" : "shape"));
    }
    return tensor;
  }

  DType read_dtype(ObjectReader& object, std::string_view key) {
    const auto name = object.text(key);
    if (!name) return f32;
    try {
      return parse_dtype(*name, object.at(key));
    } catch (const Error& error) {
      problems_.add(error, object.at(key));
      return f32;
    }
  }

  Access read_access(const std::string& text, const std::string& where) {
    if (text == "in") return Access::in;
    if (text == "out") return Access::out;
    if (text == "inout") return Access::inout;
    problems_.add(ErrorCode::invalid_spec,
                  "unknown access " + in_quotes(text) + "; use \"in\", \"out\" or \"inout\"",
                  where);
    return Access::automatic;
  }

  Layout read_layout(ObjectReader& object) {
    if (const auto text = object.text("layout")) {
      for (const char* other : {"shape", "stride", "order"}) {
        if (object.find(other) != nullptr) {
          problems_.add(
              ErrorCode::invalid_spec,
              std::string("a tensor has either \"layout\" or \"shape\"; remove \"") + other + "\"",
              object.at(other));
        }
      }
      return parse_layout(*text);
    }
    if (object.find("layout") != nullptr) return Layout();
    if (object.find("shape") == nullptr) {
      object.missing("shape", R"_([1024, "N"], or "layout": "(1024,N):(N,1)")_");
      return Layout();
    }
    const IntTuple shape = read_modes(object, "shape");
    if (object.find("stride") != nullptr) {
      if (object.find("order") != nullptr) {
        problems_.add(ErrorCode::invalid_spec,
                      "a tensor has either \"stride\" or \"order\"; remove \"order\"",
                      object.at("order"));
      }
      return {shape, read_modes(object, "stride")};
    }
    return read_order(object, shape);
  }

  Layout read_order(ObjectReader& object, const IntTuple& shape) {
    const Json* const order = object.find("order");
    if (order == nullptr || *order == "row") return row_major(shape);
    if (*order == "column") return column_major(shape);
    std::vector<int> speeds;
    if (order->is_array()) {
      for (const Json& item : *order) {
        const bool inside = item.is_number_unsigned() && item.get<std::uint64_t>() < order->size();
        speeds.push_back(inside ? item.get<int>() : -1);
      }
    }
    try {
      return ordered(shape, speeds);
    } catch (const Error& error) {
      problems_.add(ErrorCode::invalid_spec,
                    "order is \"row\", \"column\" or a permutation, the fastest mode 0: " +
                        std::string(error.what()),
                    object.at("order"));
      return row_major(shape);
    }
  }

  IntTuple read_modes(ObjectReader& object, std::string_view key) {
    const Json& json = *object.find(key);
    if (!json.is_array())
      throw Error(ErrorCode::invalid_spec, "expected a list such as [1024, \"N\"]", object.at(key));
    if (json.empty()) return key == "stride" ? 0 : 1;  // 1:0, a tensor of rank 0 has one element
    int leaves = 0;
    return read_shape(json, object.at(key), 0, leaves);
  }

  IntTuple read_shape(const Json& json, const std::string& where, int depth, int& leaves) {
    const bool leaf = !json.is_array() || json.empty();
    if (leaf && leaves++ == kMaxLeaves) {
      throw Error(ErrorCode::invalid_layout, "at most 64 extents or strides a tensor", where);
    }
    if (!json.is_array()) return read_extent(json, where);
    if (json.empty() || depth > 32) {
      problems_.add(ErrorCode::invalid_spec,
                    "a nested mode holds 1 or more extents, at most 32 levels deep", where);
      return 1;
    }
    IntTuple tuple = IntTuple::empty_tuple();
    for (std::size_t i = 0; i < json.size(); ++i) {
      tuple.append(read_shape(json[i], pointer_to(where, std::to_string(i)), depth + 1, leaves));
    }
    return tuple;
  }

  Dim read_extent(const Json& json, const std::string& where) {
    try {
      if (json.is_number_unsigned() && json.get<std::uint64_t>() <= INT64_MAX)
        return json.get<std::int64_t>();
      if (json.is_string()) return parse_dim(json.get<std::string>());
      if (json.is_object() && json.size() == 1) {
        const std::string name = json.begin().key();
        Dim symbol{std::string_view(name)};
        read_facts(json.begin().value(), pointer_to(where, name), symbol_named(name));
        return symbol;
      }
      problems_.add(
          ErrorCode::invalid_layout,
          "an extent or stride is an integer from 0, a symbol \"M\", a product \"8*M\" or "
          "{\"M\": {\"divisible_by\": 8}}",
          where);
    } catch (const Error& error) {
      problems_.add(error, where);
    }
    return 1;
  }

  void read_scalars() {
    object_.members("scalars",
                    [&](const std::string& name, const Json& json, const std::string& where) {
                      Scalar scalar{.name = name};
                      if (json.is_string()) {
                        Json wrapped = Json::object();
                        wrapped["dtype"] = json;
                        ObjectReader object(wrapped, where, problems_);
                        scalar.dtype = read_dtype(object, "dtype");
                      } else {
                        ObjectReader object(json, where, problems_);
                        object.refuse_others({"dtype", "example"});
                        if (object.find("dtype") == nullptr) object.missing("dtype", "\"f32\"");
                        scalar.dtype = read_dtype(object, "dtype");
                        scalar.example = object.number("example");
                      }
                      op_.scalars.push_back(std::move(scalar));
                    });
  }

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
                      read_strings(object, "args", function.args);
                      op_.functions.push_back(std::move(function));
                    });
  }

  void read_strings(ObjectReader& object, std::string_view key, std::vector<std::string>& strings) {
    const Json* const list = object.find(key);
    if (list == nullptr) return;
    const bool all_text = list->is_array() && std::ranges::all_of(*list, [](const Json& item) {
                            return item.is_string();
                          });
    if (!all_text) return object.wrong(key, "a list of strings");
    for (const Json& item : *list) strings.push_back(item.get<std::string>());
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
      read_strings(object_, "formula", lines);
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

  void read_tuning() {
    const Json* const json = object_.find("tuning");
    if (json != nullptr) op_.tuning = spec::read_tuning(*json, object_.at("tuning"), problems_);
    const Json* const tv = object_.find("tv");
    if (tv != nullptr) op_.tuning.tv = spec::read_tv(*tv, object_.at("tv"), problems_);
  }

  ObjectReader object_;
  Problems& problems_;
  Fused op_;
};

}  // namespace

Fused read_fused(const Json& json, const std::string& where, Problems& problems) {
  return FusedReader(json, where, problems).read();
}

}  // namespace tilejit::spec
