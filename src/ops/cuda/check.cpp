#include "cuda/check.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>
#include <string_view>

#include "core/json_pointer.hpp"
#include "core/suggestion.hpp"
#include "core/text.hpp"
#include "cuda/constants.hpp"
#include "operation/launch_plan.hpp"
#include "spec/checks.hpp"
#include "spec/launch_reader.hpp"
#include "tilejit/error.hpp"

namespace tilejit::cuda {
namespace {

/// Names that a field or a constant of plan.cuh cannot have: keywords of C++17 and the library's
/// own types.
constexpr std::string_view kTaken[] = {
    "Params",
    "alignas",
    "alignof",
    "and",
    "asm",
    "auto",
    "b8",
    "bf16",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "class",
    "const",
    "constexpr",
    "continue",
    "decltype",
    "default",
    "delete",
    "do",
    "double",
    "dynamic_cast",
    "else",
    "enum",
    "explicit",
    "export",
    "extern",
    "f16",
    "f32",
    "f64",
    "f8e4m3",
    "f8e5m2",
    "false",
    "float",
    "for",
    "friend",
    "goto",
    "i16",
    "i32",
    "i64",
    "i8",
    "if",
    "inline",
    "int",
    "long",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "nullptr",
    "operator",
    "or",
    "private",
    "protected",
    "public",
    "register",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "static_assert",
    "static_cast",
    "struct",
    "switch",
    "template",
    "tf32",
    "this",
    "throw",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "u16",
    "u32",
    "u64",
    "u8",
    "union",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "wchar_t",
    "while",
    "xor",
    "const_cast",
    "reinterpret_cast",
    "thread_local",
};

bool is_all(std::string_view text, std::string_view more) noexcept {
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || more.find(c) != more.npos;
  });
}

bool is_allowed_option(std::string_view option) noexcept {
  if (option == "--use_fast_math" || option == "-use_fast_math") return true;
  for (const std::string_view limit : {"--maxrregcount=", "-maxrregcount="}) {
    if (option.starts_with(limit)) {
      const std::string_view count = option.substr(limit.size());
      return count.size() <= 3 && is_all(count, "") &&
             std::ranges::all_of(count, [](char c) { return c >= '0' && c <= '9'; });
    }
  }
  if (!option.starts_with("-D")) return false;
  const std::size_t equals = std::min(option.find('='), option.size());
  if (!core::is_identifier(option.substr(2, equals - 2))) return false;
  // Texts of a key have no quotes and backslashes.
  return equals == option.size() || equals + 1 == option.size() ||
         is_all(option.substr(equals + 1), "_+-*/%.,:<>()&|=! ");
}

class Checker {
 public:
  Checker(const Resolved& kernel, const Tuning& tuning) : kernel_(kernel), tuning_(tuning) {}

  Checked run() {
    check_names();
    result_.symbols = spec::symbols_of(kernel_.tensors, problems_);
    for (const auto& [name, divisor] : result_.symbols) check_name(name, "/symbols");
    spec::check_symbols(kernel_.symbols, "remove it, or make it a scalar", result_.symbols,
                        problems_);
    for (const Tensor& tensor : kernel_.tensors) spec::check_tensor(tensor, problems_);
    check_access();
    check_options();
    check_knobs();
    problems_.throw_if_any();
    result_.constants = chosen_constants(kernel_, tuning_);
    check_tune();
    result_.shape =
        spec::read_launch_shape({.grid = kernel_.launch.grid,
                                 .block = kernel_.launch.block,
                                 .shared = kernel_.launch.shared,
                                 .cluster = kernel_.launch.cluster},
                                {integers_of(result_.constants), result_.symbols}, problems_);
    problems_.throw_if_any();
    return std::move(result_);
  }

 private:
  void fault(std::string message, std::string where) {
    problems_.add(ErrorCode::invalid_spec, std::move(message), std::move(where));
  }

  void check_names() {
    (void)spec::check_identifier(kernel_.name, "/name", problems_);
    if (!core::is_identifier(kernel_.entry)) {
      fault("the entry " + spec::in_quotes(kernel_.entry) +
                " is not the name of a kernel: letters, digits and '_', at most 64",
            "/entry");
    }
    spec::check_tensor_count(kernel_.tensors.size(), problems_);
    for (const Tensor& tensor : kernel_.tensors) check_name(tensor.name, "/tensors");
    for (const Scalar& scalar : kernel_.scalars) check_name(scalar.name, "/scalars");
    for (const CudaConstant& constant : kernel_.constants) {
      check_name(constant.name, "/constants");
      const auto* const number = std::get_if<Number>(&constant.value);
      if (number != nullptr && !std::isfinite(number->to<float>())) {
        fault("the constant '" + constant.name + "' is " + to_text(constant.value) +
                  ", and a float has no such literal",
              core::pointer_to("/constants", constant.name));
      }
    }
  }

  void check_name(const std::string& name, const std::string& folder) {
    const std::string where = core::pointer_to(folder, name);
    if (!spec::check_identifier(name, where, problems_)) return;
    // A constant would clash with the library's namespace; a field does not.
    const bool is_namespace = name == "tile" && folder == "/constants";
    if (is_namespace || std::ranges::find(kTaken, name) != std::end(kTaken)) {
      fault("the name '" + name + "' belongs to C++ or to plan.cuh; choose another", where);
    } else if (!names_.insert(name).second) {
      fault("the name '" + name +
                "' is used twice; tensors, scalars, symbols and constants share one set of names",
            where);
    }
  }

  void check_access() {
    for (std::size_t i = 0; i < kernel_.zeroed.size(); ++i) {
      const std::string where = "/zeroed/" + std::to_string(i);
      const std::string& name = kernel_.zeroed[i];
      const auto found = std::ranges::find(kernel_.tensors, name, &Tensor::name);
      if (found == kernel_.tensors.end()) {
        fault("no tensor is called " + spec::in_quotes(name) + "; name one, or leave it out",
              where);
      } else if (found->access == Access::in || found->access == Access::inout) {
        fault("tensor '" + name + "' is set to 0 before it is read; its access is \"out\"", where);
      } else if (std::ranges::count(kernel_.zeroed, name) > 1) {
        fault("tensor '" + name + "' is named twice", where);
      }
    }
    bool writes = false;
    for (const Tensor& tensor : kernel_.tensors) {
      Access access = tensor.access;
      const bool zeroed = std::ranges::find(kernel_.zeroed, tensor.name) != kernel_.zeroed.end();
      if (access == Access::automatic) access = zeroed ? Access::out : Access::in;
      result_.access.push_back(access);
      writes = writes || access != Access::in;
    }
    if (!writes && !kernel_.tensors.empty()) {
      fault("the kernel writes no tensor; give its outputs \"access\": \"out\" or \"inout\"",
            "/tensors");
    }
  }

  void check_options() {
    for (std::size_t i = 0; i < kernel_.options.size(); ++i) {
      if (is_allowed_option(kernel_.options[i])) continue;
      fault("the option " + spec::in_quotes(kernel_.options[i]) +
                " is refused; there are -DNAME, -DNAME=VALUE, --use_fast_math, --maxrregcount=N, "
                "and \"include_dirs\"",
            "/options/" + std::to_string(i));
    }
    const std::size_t arguments =
        kernel_.tensors.size() + kernel_.scalars.size() + kernel_.symbols.size();
    if (kernel_.args == CudaArguments::positional && arguments > operation::kMostPositional) {
      fault("a kernel takes at most 128 positional arguments, found " + std::to_string(arguments) +
                "; take them as one Params",
            "/args");
    }
  }

  void check_knobs() {
    Tuning only;
    only.constants = tuning_.constants;
    if (tuning_ == only) return;
    fault("of a cuda kernel, tuning chooses \"constants\" only; remove the other knobs", "/tuning");
  }

  void check_tune() {
    for (const CudaTune& tune : kernel_.tune) {
      const std::string where = core::pointer_to("/tune", tune.name);
      const auto constant = std::ranges::find(kernel_.constants, tune.name, &CudaConstant::name);
      if (constant == kernel_.constants.end()) {
        fault("no constant is called " + spec::in_quotes(tune.name) +
                  "; declare its usual value in \"constants\"",
              where);
        continue;
      }
      const bool alike = std::ranges::all_of(tune.values, [&](const CudaConstant::Value& value) {
        return value.index() == constant->value.index();
      });
      if (!alike || tune.values.empty() || tune.values.size() > 64) {
        fault("'" + tune.name + "' is tuned over 1 to 64 values of the kind of its usual one, " +
                  to_text(constant->value),
              where);
      }
    }
  }

  const Resolved& kernel_;
  const Tuning& tuning_;
  spec::Problems problems_;
  Checked result_;
  std::set<std::string> names_;
};

}  // namespace

Checked check(const Resolved& kernel, const Tuning& tuning) {
  return Checker(kernel, tuning).run();
}

}  // namespace tilejit::cuda
