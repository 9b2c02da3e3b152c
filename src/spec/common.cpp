// Conversion from and to JSON of the members that all descriptors have.
#include "spec/common.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

#include "spec/tuning.hpp"
#include "tilejit/error.hpp"

namespace tilejit::spec {
namespace {

constexpr int kMaxLeaves = 64;  // per tensor, as in layout text

class CommonReader {
 public:
  CommonReader(ObjectReader& object, Problems& problems, Common& common)
      : object_(object), problems_(problems), op_(common) {}

  void read() {
    (void)object_.text("op");
    if (auto name = object_.text("name")) op_.name = std::move(*name);
    (void)object_.text("$schema");
    (void)object_.text("description");
    read_symbols();
    read_tensors();
    read_scalars();
    read_knobs();
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
      // Two promises about one symbol must both hold.
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
      // Reported early: reading the symbols of so many shapes would take long.
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
    if (json.empty()) return key == "stride" ? 0 : 1;  // 1:0; a tensor of rank 0 has one element
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

  void read_knobs() {
    const Json* const json = object_.find("tuning");
    if (json != nullptr) op_.tuning = read_tuning(*json, object_.at("tuning"), problems_);
    const Json* const tv = object_.find("tv");
    if (tv != nullptr) op_.tuning.tv = read_tv(*tv, object_.at("tv"), problems_);
  }

  ObjectReader& object_;
  Problems& problems_;
  Common& op_;
};

std::string_view access_name(Access access) {
  switch (access) {
    case Access::in: return "in";
    case Access::out: return "out";
    case Access::inout: return "inout";
    case Access::automatic: break;
  }
  return {};
}

Json tensor_json(const Tensor& tensor) {
  Json json = {{"dtype", to_string(tensor.dtype)}, {"layout", to_string(tensor.layout)}};
  if (tensor.access != Access::automatic) json["access"] = access_name(tensor.access);
  if (tensor.align != Tensor{}.align) json["align"] = tensor.align;
  return json;
}

Json symbol_json(const Symbol& symbol) {
  Json json = Json::object();
  if (symbol.divisible_by != 1) json["divisible_by"] = symbol.divisible_by;
  if (symbol.example) json["example"] = *symbol.example;
  return json;
}

Json number_json(const Number& number) {
  if (!number.is_integer()) return number.to<double>();
  if (number.exceeds_i64()) return static_cast<std::uint64_t>(number.bits());
  return number.bits();
}

Json scalar_json(const Scalar& scalar) {
  if (!scalar.example) return to_string(scalar.dtype);
  return {{"dtype", to_string(scalar.dtype)}, {"example", number_json(*scalar.example)}};
}

}  // namespace

void read_common(ObjectReader& object, Problems& problems, Common& common) {
  CommonReader(object, problems, common).read();
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

Json common_json(const std::string& name, const std::vector<Symbol>& symbols,
                 const std::vector<Tensor>& tensors, const std::vector<Scalar>& scalars) {
  Json json = {{"name", name}};
  for (const Symbol& symbol : symbols) json["symbols"][symbol.name] = symbol_json(symbol);
  json["tensors"] = Json::object();
  for (const Tensor& tensor : tensors) json["tensors"][tensor.name] = tensor_json(tensor);
  for (const Scalar& scalar : scalars) json["scalars"][scalar.name] = scalar_json(scalar);
  return json;
}

void add_tuning(Json& json, const Tuning& tuning) {
  if (const Json knobs = tuning_json(tuning); !knobs.empty()) json["tuning"] = knobs;
  if (const auto& tv = tuning.tv) {
    json["tv"] = {{"thr", to_string(tv->thr)}, {"val", to_string(tv->val)}};
  }
}

std::string text_of(const Json& json, const std::string& name) {
  try {
    return json.dump();
  } catch (const Json::type_error&) {
    throw Error(ErrorCode::invalid_spec,
                "a name or formula of " + in_quotes(name) +
                    " is not UTF-8, which JSON cannot hold; write it in UTF-8");
  }
}

}  // namespace tilejit::spec
