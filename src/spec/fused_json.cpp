// JSON to and from descriptors: the public functions.
#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "core/text.hpp"
#include "spec/json_text.hpp"
#include "spec/object_reader.hpp"
#include "spec/problems.hpp"
#include "spec/read_fused.hpp"
#include "spec/sweep.hpp"
#include "spec/tuning.hpp"
#include "tilejit/fused.hpp"

namespace tilejit {
namespace {

using spec::Json;

constexpr std::size_t kMaxKernels = 100'000;

enum class Check : std::uint8_t { structure, everything };

/// Structure first: the meaning of a spec with structural faults would only repeat them.
Fused read_checked(const Json& json, const std::string& where, Check check) {
  spec::Problems problems;
  Fused op = spec::read_fused(json, where, problems);
  problems.throw_if_any();
  if (check == Check::structure) return op;
  try {
    validate(op);
  } catch (const Error& error) {
    if (where.empty()) throw;
    spec::Problems placed;
    placed.add(Error(error.code(), error.what()), where);
    placed.throw_if_any();
  }
  return op;
}

/// The descriptors of a file, one behind the other, sweeps expanded.
class SpecList {
 public:
  explicit SpecList(Check check) : check_(check) {}

  void add(const Json& json, const std::string& where) {
    spec::Problems problems;
    (void)spec::each_of_sweep(
        json, where, kMaxKernels - std::min(kMaxKernels, ops_.size()), problems,
        [&](const Json& descriptor, const std::string& choice) {
          ops_.push_back(choice.empty() ? read_checked(descriptor, where, check_)
                                        : read_chosen(descriptor, where, choice));
          if (!names_.insert(ops_.back().name).second) {
            throw Error(ErrorCode::invalid_spec,
                        "a kernel named '" + ops_.back().name + "' stands earlier in the list",
                        where + "/name");
          }
        });
    problems.throw_if_any();
  }
  [[nodiscard]] std::vector<Fused> take() { return std::move(ops_); }

 private:
  /// Its faults say which of the sweep's descriptors has them.
  [[nodiscard]] Fused read_chosen(const Json& json, const std::string& where,
                                  const std::string& choice) const {
    try {
      return read_checked(json, where, check_);
    } catch (const Error& error) {
      spec::Problems placed;
      placed.add(error, where);
      placed.put_in_front("with " + core::shortened(choice) + ": ");
      placed.throw_if_any();
      throw;
    }
  }

  Check check_;
  std::vector<Fused> ops_;
  std::set<std::string> names_;
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

Fused parse_fused(std::string_view json) {
  const Json parsed = spec::parse_json(json);
  if (parsed.is_object() && parsed.contains("sweep")) {
    throw Error(ErrorCode::invalid_spec,
                "a sweep stands for several descriptors; read it with parse_specs", "/sweep");
  }
  return read_checked(parsed, "", Check::everything);
}

namespace {

std::vector<Fused> read_specs(std::string_view text, Check check) {
  const Json json = spec::parse_json(text);
  SpecList specs(check);
  if (!json.is_object() || !json.contains("kernels")) {
    specs.add(json, "");
    return specs.take();
  }
  spec::Problems problems;
  spec::ObjectReader object(json, "", problems);
  object.refuse_others({"$schema", "description", "kernels"});
  (void)object.text("$schema");
  (void)object.text("description");
  const Json& list = json["kernels"];
  if (!list.is_array() || list.empty() || list.size() > kMaxKernels) {
    problems.add(ErrorCode::invalid_spec, "\"kernels\" is a list of 1 to 100,000 descriptors",
                 "/kernels");
  }
  problems.throw_if_any();
  for (std::size_t i = 0; i < list.size(); ++i) {
    specs.add(list[i], "/kernels/" + std::to_string(i));
  }
  return specs.take();
}

}  // namespace

std::vector<Fused> parse_specs(std::string_view text) {
  return read_specs(text, Check::everything);
}

std::vector<Fused> parse_specs_unvalidated(std::string_view text) {
  return read_specs(text, Check::structure);
}

std::string to_json(const Fused& op) {
  Json json = {{"name", op.name}};
  for (const Symbol& symbol : op.symbols) json["symbols"][symbol.name] = symbol_json(symbol);
  json["tensors"] = Json::object();
  for (const Tensor& tensor : op.tensors) json["tensors"][tensor.name] = tensor_json(tensor);
  for (const Scalar& scalar : op.scalars) json["scalars"][scalar.name] = scalar_json(scalar);
  for (const Function& function : op.functions) {
    json["functions"][function.name] = {{"args", function.args}, {"expr", function.expr}};
  }
  json["formula"] = op.formula;
  if (op.axis.size() == 1) json["axis"] = op.axis.front();
  if (op.axis.size() > 1) json["axis"] = op.axis;
  if (const Json tuning = spec::tuning_json(op.tuning); !tuning.empty()) json["tuning"] = tuning;
  if (const auto& tv = op.tuning.tv) {
    json["tv"] = {{"thr", to_string(tv->thr)}, {"val", to_string(tv->val)}};
  }
  try {
    return json.dump(2);
  } catch (const Json::type_error&) {
    throw Error(ErrorCode::invalid_spec,
                "a name or formula of " + spec::in_quotes(op.name) +
                    " is not UTF-8, which JSON cannot hold; write it in UTF-8");
  }
}

}  // namespace tilejit
