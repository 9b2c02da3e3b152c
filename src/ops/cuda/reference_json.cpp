#include "cuda/reference_json.hpp"

#include <algorithm>
#include <utility>

#include "operation/descriptor.hpp"
#include "spec/common.hpp"
#include "spec/specs.hpp"
#include "tilejit/error.hpp"

namespace tilejit::cuda {
namespace {

using spec::Json;
using spec::ObjectReader;
using spec::Problems;

constexpr const char* kShared[] = {"symbols", "tensors", "scalars"};

/// The formula's members, read as those of a fused operation over the kernel's tensors.
CudaReference::Formula read_formula(const Json& json, const Json& kernel, const std::string& where,
                                    const SpecOptions& options, Problems& problems) {
  Json fused = json;
  fused.erase("relative");
  fused.erase("absolute");
  for (const char* const member : kShared) {
    if (kernel.contains(member)) fused[member] = kernel[member];
  }
  const Operation op = spec::read_operation(fused, where, options, problems);
  const Fused* const read = op.fused();
  if (read == nullptr) return {};
  return {.functions = read->functions, .formula = read->formula, .axis = read->axis};
}

CudaReference::Arrays read_arrays(ObjectReader& object, const SpecOptions& options,
                                  Problems& problems) {
  CudaReference::Arrays arrays;
  object.members("npy", [&](const std::string& name, const Json& file, const std::string& where) {
    if (!file.is_string()) {
      problems.add(ErrorCode::invalid_spec, "expected a file, such as \"bins.npy\"", where);
    } else {
      arrays.files.emplace_back(name, options.folder / file.get<std::string>());
    }
  });
  return arrays;
}

/// What the kernel sets to 0 and adds to is an output of the other one too.
void write_zeroed(const Json& kernel, Json& other) {
  if (!kernel.contains("zeroed") || !kernel["zeroed"].is_array()) return;
  for (const Json& name : kernel["zeroed"]) {
    if (!name.is_string()) continue;
    const auto tensor = other["tensors"].find(name.get<std::string>());
    if (tensor == other["tensors"].end() || !tensor->is_object()) continue;
    if (!tensor->contains("access")) (*tensor)["access"] = "out";
  }
}

/// A descriptor that takes what it does not say itself from the kernel's.
Operation read_other(const Json& json, const Json& kernel, const std::string& where,
                     const SpecOptions& options, Problems& problems) {
  Json other = json;
  if (other.is_object()) {
    if (!other.contains("op")) other["op"] = "cuda";
    for (const char* const member : kShared) {
      if (!other.contains(member) && kernel.contains(member)) other[member] = kernel[member];
    }
    write_zeroed(kernel, other);
  }
  return spec::read_operation(other, where, options, problems);
}

}  // namespace

std::optional<CudaReference> read_reference(const Json& json, ObjectReader& object,
                                            const SpecOptions& options, Problems& problems) {
  const Json* const given = object.find("reference");
  if (given == nullptr) return std::nullopt;
  const std::string where = object.at("reference");
  ObjectReader reader(*given, where, problems);
  reader.refuse_others({"formula", "functions", "axis", "npy", "kernel", "relative", "absolute"});
  CudaReference reference;
  if (const auto relative = reader.number("relative")) reference.relative = relative->to<double>();
  if (const auto absolute = reader.number("absolute")) reference.absolute = absolute->to<double>();
  const auto count =
      std::ranges::count_if(std::initializer_list<const char*>{"formula", "npy", "kernel"},
                            [&](const char* member) { return reader.find(member) != nullptr; });
  if (count != 1) {
    problems.add(
        ErrorCode::invalid_spec,
        "a reference is one of \"formula\": \"y = a + b\", \"npy\": {\"y\": \"y.npy\"} and "
        "\"kernel\": {...}",
        where);
    return std::nullopt;
  }
  if (reader.find("formula") != nullptr) {
    reference.source = read_formula(*given, json, where, options, problems);
  } else if (reader.find("npy") != nullptr) {
    reference.source = read_arrays(reader, options, problems);
  } else {
    reference.source =
        read_other(*reader.find("kernel"), json, reader.at("kernel"), options, problems);
  }
  return reference;
}

Json reference_json(const CudaReference& reference) {
  Json json = Json::object();
  if (const auto* const formula = std::get_if<CudaReference::Formula>(&reference.source)) {
    for (const Function& function : formula->functions) {
      json["functions"][function.name] = {{"args", function.args}, {"expr", function.expr}};
    }
    json["formula"] = formula->formula;
    if (!formula->axis.empty()) json["axis"] = formula->axis;
  } else if (const auto* const arrays = std::get_if<CudaReference::Arrays>(&reference.source)) {
    json["npy"] = Json::object();
    for (const auto& [name, path] : arrays->files) json["npy"][name] = path.string();
  } else {
    json["kernel"] = Json::parse(std::get<Operation>(reference.source).descriptor().json());
  }
  if (reference.relative != 0) json["relative"] = reference.relative;
  if (reference.absolute != 0) json["absolute"] = reference.absolute;
  return json;
}

}  // namespace tilejit::cuda
