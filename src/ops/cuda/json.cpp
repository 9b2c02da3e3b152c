#include "cuda/json.hpp"

#include <algorithm>
#include <utility>

#include "core/json_pointer.hpp"
#include "cuda/constants.hpp"
#include "cuda/descriptor.hpp"
#include "cuda/reference_json.hpp"
#include "spec/common.hpp"
#include "tilejit/error.hpp"

namespace tilejit::cuda {
namespace {

using core::pointer_to;
using spec::Json;
using spec::ObjectReader;
using spec::Problems;

/// Paths of descriptors stay below the folder of the spec.
std::filesystem::path path_below(const std::string& text, const SpecOptions& options,
                                 const std::string& where, Problems& problems) {
  const std::filesystem::path path = text;
  if (path.is_absolute() || std::ranges::find(path, "..") != path.end() || text.empty()) {
    problems.add(ErrorCode::invalid_spec,
                 "the path " + spec::in_quotes(text) +
                     " is not one below the folder of the spec; use no '..' and no leading '/'",
                 where);
    return {};
  }
  return options.folder / path;
}

class KernelReader {
 public:
  KernelReader(const Json& json, std::string where, const SpecOptions& options, Problems& problems)
      : json_(json),
        object_(json, std::move(where), problems),
        options_(options),
        problems_(problems) {}

  CudaKernel read() {
    object_.refuse_others(
        {"$schema", "description",  "name",  "op",        "symbols", "tensors", "scalars",
         "source",  "text",         "entry", "constants", "zeroed",  "launch",  "options",
         "headers", "include_dirs", "args",  "reference", "tune",    "tuning",  "sweep"});
    spec::Common common{.name = kernel_.name};
    spec::read_common(object_, problems_, common);
    kernel_.name = std::move(common.name);
    kernel_.symbols = std::move(common.symbols);
    kernel_.tensors = std::move(common.tensors);
    kernel_.scalars = std::move(common.scalars);
    kernel_.tuning = std::move(common.tuning);
    read_source();
    read_constants();
    spec::read_strings(object_, "zeroed", kernel_.zeroed);
    spec::read_strings(object_, "options", kernel_.options);
    read_launch();
    read_args();
    read_tune();
    kernel_.reference = read_reference(json_, object_, options_, problems_);
    return std::move(kernel_);
  }

 private:
  void read_source() {
    if (auto text = object_.text("text")) kernel_.text = std::move(*text);
    if (auto entry = object_.text("entry")) kernel_.entry = std::move(*entry);
    if (const auto source = object_.text("source")) {
      kernel_.source = path_below(*source, options_, object_.at("source"), problems_);
    } else if (kernel_.text.empty()) {
      object_.missing("source", "\"histogram.cu\", or give the source itself as \"text\"");
    }
    std::vector<std::string> folders;
    spec::read_strings(object_, "include_dirs", folders);
    for (const std::string& folder : folders) {
      kernel_.include_dirs.push_back(
          path_below(folder, options_, object_.at("include_dirs"), problems_));
    }
    object_.members("headers",
                    [&](const std::string& name, const Json& text, const std::string& where) {
                      if (text.is_string()) {
                        kernel_.headers.emplace_back(name, text.get<std::string>());
                      } else {
                        problems_.add(ErrorCode::invalid_spec, "expected the header's text", where);
                      }
                    });
  }

  CudaConstant::Value read_value(const Json& json, std::string where) {
    try {
      if (json.is_boolean()) return json.get<bool>();
      if (json.is_number_unsigned()) return Number(json.get<std::uint64_t>());
      if (json.is_number_integer()) return Number(json.get<std::int64_t>());
      if (json.is_number()) return Number(json.get<double>());
      if (json.is_string()) return parse_dtype(json.get<std::string>(), where);
      if (json.is_object() && json.size() == 1 && json.contains("layout") &&
          json["layout"].is_string()) {
        where += "/layout";
        return parse_composed_layout(json["layout"].get<std::string>());
      }
      problems_.add(ErrorCode::invalid_spec,
                    "a constant is a number, true or false, a dtype such as \"f16\", or "
                    "{\"layout\": \"(8,4):(1,8)\"}",
                    where);
    } catch (const Error& error) {
      problems_.add(error, where);
    }
    return Number(0);
  }

  void read_constants() {
    object_.members("constants",
                    [&](const std::string& name, const Json& json, const std::string& where) {
                      kernel_.constants.push_back({name, read_value(json, where)});
                    });
  }

  void read_tune() {
    object_.members(
        "tune", [&](const std::string& name, const Json& json, const std::string& where) {
          CudaTune& tune = kernel_.tune.emplace_back(CudaTune{.name = name});
          if (!json.is_array()) {
            problems_.add(ErrorCode::invalid_spec, "expected a list of values, such as [128, 256]",
                          where);
            return;
          }
          for (std::size_t i = 0; i < json.size(); ++i) {
            tune.values.push_back(read_value(json[i], pointer_to(where, std::to_string(i))));
          }
        });
  }

  /// A number or an expression.
  std::string read_size(const Json& json, const std::string& where) {
    if (json.is_string()) return json.get<std::string>();
    if (json.is_number_integer()) return json.dump();
    problems_.add(ErrorCode::invalid_spec,
                  "expected an integer or an expression such as \"ceil_div(M, 128)\"", where);
    return "1";
  }

  /// One value, or one each for x, y and z.
  void read_sizes(ObjectReader& launch, const char* key, std::vector<std::string>& sizes) {
    const Json* const json = launch.find(key);
    if (json == nullptr) return;
    sizes.clear();
    if (!json->is_array()) return sizes.push_back(read_size(*json, launch.at(key)));
    for (std::size_t i = 0; i < json->size(); ++i) {
      sizes.push_back(read_size((*json)[i], pointer_to(launch.at(key), std::to_string(i))));
    }
  }

  void read_launch() {
    const Json* const json = object_.find("launch");
    if (json == nullptr) {
      return object_.missing("launch", R"_({"grid": "ceil_div(N, 256)", "block": 256})_");
    }
    ObjectReader launch(*json, object_.at("launch"), problems_);
    launch.refuse_others({"grid", "block", "cluster", "shared"});
    if (launch.find("grid") == nullptr) launch.missing("grid", "\"ceil_div(N, 256)\"");
    read_sizes(launch, "grid", kernel_.launch.grid);
    read_sizes(launch, "block", kernel_.launch.block);
    for (const auto& [key, size] : {std::pair("cluster", &kernel_.launch.cluster),
                                    std::pair("shared", &kernel_.launch.shared)}) {
      if (const Json* const value = launch.find(key)) *size = read_size(*value, launch.at(key));
    }
  }

  void read_args() {
    const auto args = object_.text("args");
    if (!args || *args == "params") return;
    if (*args == "positional") {
      kernel_.args = CudaArguments::positional;
    } else {
      problems_.add(ErrorCode::invalid_spec,
                    "unknown args " + spec::in_quotes(*args) + "; use \"params\" or \"positional\"",
                    object_.at("args"));
    }
  }

  const Json& json_;
  ObjectReader object_;
  const SpecOptions& options_;
  Problems& problems_;
  CudaKernel kernel_;
};

Json value_json(const CudaConstant::Value& value) {
  if (const auto* const flag = std::get_if<bool>(&value)) return *flag;
  if (const auto* const layout = std::get_if<ComposedLayout>(&value)) {
    return {{"layout", to_string(*layout)}};
  }
  if (std::holds_alternative<DType>(value)) return to_text(value);
  return Json::parse(to_text(value), nullptr, false);
}

/// An integer if it is one.
Json size_json(const std::string& text) {
  const bool is_number = !text.empty() && text.size() < 18 &&
                         text.find_first_not_of("0123456789") == text.npos &&
                         (text == "0" || text.front() != '0');
  return is_number ? Json(std::stoll(text)) : Json(text);
}

Json sizes_json(const std::vector<std::string>& texts) {
  if (texts.size() == 1) return size_json(texts.front());
  Json list = Json::array();
  for (const std::string& text : texts) list.push_back(size_json(text));
  return list;
}

Json launch_json(const CudaLaunch& launch) {
  Json json = {{"grid", sizes_json(launch.grid)}, {"block", sizes_json(launch.block)}};
  if (launch.cluster != CudaLaunch{}.cluster) json["cluster"] = size_json(launch.cluster);
  if (launch.shared != CudaLaunch{}.shared) json["shared"] = size_json(launch.shared);
  return json;
}

}  // namespace

Operation read_kernel(const Json& json, const std::string& where, const SpecOptions& options,
                      Problems& problems) {
  if (!options.allow_source) {
    throw Error(ErrorCode::unsupported,
                "this descriptor brings CUDA source, which would be compiled and run as it is; if "
                "you trust who wrote it, allow it: --allow-source, TILEJIT_ALLOW_SOURCE=1, "
                "Options::allow_source or SpecOptions::allow_source",
                where + "/op");
  }
  Problems own;
  CudaKernel kernel = KernelReader(json, where, options, own).read();
  if (own.empty()) return kernel;
  problems.add(std::move(own));
  return Fused{};
}

std::string to_json(const CudaKernel& kernel) {
  Json json = spec::common_json(kernel.name, kernel.symbols, kernel.tensors, kernel.scalars);
  json["op"] = "cuda";
  json["source"] = kernel.source.string();
  json["text"] = kernel.text;
  for (const auto& [name, text] : kernel.headers) json["headers"][name] = text;
  json["entry"] = kernel.entry;
  for (const CudaConstant& constant : kernel.constants) {
    json["constants"][constant.name] = value_json(constant.value);
  }
  if (!kernel.zeroed.empty()) json["zeroed"] = kernel.zeroed;
  json["launch"] = launch_json(kernel.launch);
  if (!kernel.options.empty()) json["options"] = kernel.options;
  if (kernel.args == CudaArguments::positional) json["args"] = "positional";
  if (kernel.reference) json["reference"] = reference_json(*kernel.reference);
  for (const CudaTune& tune : kernel.tune) {
    json["tune"][tune.name] = Json::array();
    for (const CudaConstant::Value& value : tune.values) {
      json["tune"][tune.name].push_back(value_json(value));
    }
  }
  spec::add_tuning(json, kernel.tuning);
  return spec::text_of(json, kernel.name);
}

}  // namespace tilejit::cuda
