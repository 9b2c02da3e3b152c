#include "program/check.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "core/json_pointer.hpp"
#include "core/suggestion.hpp"
#include "expr/functions.hpp"
#include "expr/names.hpp"
#include "program/compiler.hpp"
#include "program/launch.hpp"
#include "program/tl_cursor.hpp"
#include "program/tl_reader.hpp"
#include "program/tl_writer.hpp"
#include "spec/checks.hpp"

namespace tilejit::program {
namespace {

/// The program as its text says it, so that every expression has a place in it.
struct Placed {
  TileProgram program;
  std::string text;
  bool is_own_text = false;  ///< the author wrote it; else it is made of the program
};

Placed placed(const TileProgram& program) {
  if (!program.source.empty()) {
    TileProgram own = read_tl(program.source);
    if (own.body == program.body) {
      TileProgram made = program;
      made.body = std::move(own.body);
      return {std::move(made), program.source, true};
    }
  }
  std::string text = tl_text(program);
  TileProgram made = program;
  made.body = read_tl(text).body;
  return {std::move(made), std::move(text), false};
}

class Checker {
 public:
  Checker(const TileProgram& program, const Tuning& tuning) : program_(program), tuning_(tuning) {}

  Code run() {
    check_header();
    problems_.throw_if_any();
    constants_ = chosen_constants(program_, tuning_);
    check_tune();
    code_.shape = read_launch(program_.launch, constants_, code_.divisors, problems_);
    problems_.throw_if_any();
    compile();
    check_verify();
    return std::move(code_);
  }

 private:
  void fault(std::string message, std::string where) {
    problems_.add(ErrorCode::invalid_spec, std::move(message), std::move(where));
  }

  void check_header() {
    if (!program_.sweep.empty()) {
      fault("a sweep stands for several programs; read the text with parse_specs", "/sweep");
    }
    (void)spec::check_identifier(program_.name, "/name", problems_);
    if (program_.tensors.size() > 64) spec::check_tensor_count(program_.tensors.size(), problems_);
    for (const Tensor& tensor : program_.tensors) check_name(tensor.name, "/tensors");
    for (const Scalar& scalar : program_.scalars) check_name(scalar.name, "/scalars");
    for (const TileConstant& constant : program_.constants) {
      check_name(constant.name, "/constants");
    }
    code_.divisors = spec::symbols_of(program_.tensors, problems_);
    for (const auto& [name, divisor] : code_.divisors) check_name(name, "/symbols");
    spec::check_symbols(program_.symbols, "remove it, or make it a Scalar", code_.divisors,
                        problems_);
    for (const Tensor& tensor : program_.tensors) spec::check_tensor(tensor, problems_);
    check_zeroed();
    Tuning only;
    only.constants = tuning_.constants;
    if (tuning_ != only) {
      fault("of a program, tuning chooses \"constants\" only; remove the other knobs", "/tuning");
    }
  }

  void check_name(const std::string& name, const std::string& folder) {
    const std::string where = core::pointer_to(folder, name);
    if (!spec::check_identifier(name, where, problems_)) return;
    if (expr::is_reserved(name) || is_tl_word(name) || name == "tid") {
      fault("the name '" + name + "' is a word of the language; choose another", where);
    } else if (!names_.insert(name).second) {
      fault("the name '" + name +
                "' is used twice; tensors, scalars, symbols and constants share one set of names",
            where);
    }
  }

  void check_zeroed() {
    for (std::size_t i = 0; i < program_.zeroed.size(); ++i) {
      const std::string& name = program_.zeroed[i];
      const std::string where = "/zeroed/" + std::to_string(i);
      const auto found = std::ranges::find(program_.tensors, name, &Tensor::name);
      if (found == program_.tensors.end()) {
        fault("no tensor is called " + spec::in_quotes(name) + "; name one, or leave it out",
              where);
      } else if (found->access == Access::in || found->access == Access::inout) {
        fault("tensor '" + name + "' is set to 0 before it is read; its access is \"out\"", where);
      }
    }
  }

  void check_tune() {
    for (const TileValues& tune : program_.tune) {
      const std::string where = core::pointer_to("/tune", tune.name);
      const bool declared = std::ranges::find(program_.constants, tune.name, &TileConstant::name) !=
                            program_.constants.end();
      if (!declared) {
        fault("no constant is called " + spec::in_quotes(tune.name) +
                  "; declare its usual value with Constant",
              where);
      } else if (tune.values.empty() || tune.values.size() > 64) {
        fault("'" + tune.name + "' is tuned over 1 to 64 values", where);
      }
    }
  }

  void compile() {
    const Placed placed = program::placed(program_);
    code_.text = placed.text;
    std::vector<expr::FunctionText> functions;
    for (const Function& function : program_.functions) {
      functions.push_back({function.name, function.args, function.expr});
    }
    const expr::FunctionTable table(functions);
    Source source(code_.text);
    Scope scope(placed.program, constants_, table, source, code_);
    Compiler compiler(scope, source, !placed.is_own_text);
    code_.body = compiler.body(placed.program.body, "/body");
    source.set_where({});
    compiler.check_budget(operation_threads());
    check_access(compiler, source);
    check_used(compiler, scope);
    problems_.throw_if_any();
  }

  [[nodiscard]] std::optional<std::int64_t> operation_threads() const {
    std::int64_t threads = 1;
    for (std::size_t i = 0; i < 3; ++i) {
      const auto& number = code_.shape.numbers[operation::LaunchShape::block + i];
      if (!number.is_known()) return std::nullopt;
      threads *= number.evaluate();
    }
    return threads;
  }

  void check_access(const Compiler& compiler, const Source& source) {
    bool writes = compiler.prints();
    for (std::size_t i = 0; i < program_.tensors.size(); ++i) {
      const Tensor& tensor = program_.tensors[i];
      const Compiler::Use use = compiler.uses().empty() ? Compiler::Use() : compiler.uses()[i];
      const bool zeroed = std::ranges::find(program_.zeroed, tensor.name) != program_.zeroed.end();
      writes = writes || use.stored || use.updated;
      code_.access.push_back(access_of(tensor, use, zeroed, source));
    }
    if (!writes && problems_.empty()) {
      fault("the program writes no tensor and prints nothing; Copy a result to global", "/body");
    }
  }

  Access access_of(const Tensor& tensor, const Compiler::Use& use, bool zeroed,
                   const Source& source) {
    const std::string where = core::pointer_to("/tensors", tensor.name);
    const std::string name = "'" + tensor.name + "'";
    const bool written = use.stored || use.updated;
    if (tensor.access == Access::in && written) {
      source.fail(use.place, tensor.name,
                  "tensor " + name +
                      " is declared 'in', and this line writes it; declare it 'out' "
                      "or 'inout'");
    }
    if ((tensor.access == Access::out || tensor.access == Access::inout || zeroed) && !written) {
      fault("tensor " + name + " is an output, and no line writes it; Copy a tile to it", where);
      return Access::out;
    }
    if (tensor.access == Access::inout || (tensor.access == Access::in && !written)) {
      return tensor.access;
    }
    const bool reads = (use.loaded || use.updated) && !zeroed;
    if (written && reads) {
      source.fail(
          use.place, tensor.name,
          "tensor " + name + " is read and written; declare it 'inout'" +
              (use.updated && !use.loaded ? ", or 'zeroed' if each launch starts from 0" : ""));
    }
    return written ? Access::out : Access::in;
  }

  void check_used(const Compiler& compiler, const Scope& scope) {
    for (std::size_t i = 0; i < program_.tensors.size(); ++i) {
      const Tensor& tensor = program_.tensors[i];
      const Compiler::Use use = compiler.uses().empty() ? Compiler::Use() : compiler.uses()[i];
      if (use.loaded || use.stored || use.updated || code_.access[i] != Access::in) continue;
      fault("tensor '" + tensor.name + "' is not used; remove it",
            core::pointer_to("/tensors", tensor.name));
    }
    for (const Scalar& scalar : program_.scalars) {
      if (scope.is_used(scalar.name)) continue;
      fault("scalar '" + scalar.name + "' is not used; remove it",
            core::pointer_to("/scalars", scalar.name));
    }
  }

  void check_verify() {
    const auto formula = verify_formula(program_);
    if (!formula) return;
    const std::vector<Access> access = [&] {
      try {
        return resolve_access(*formula);
      } catch (const Error& error) {
        spec::Problems problems;
        problems.add(error, "/verify");
        problems.put_in_front("of Verify: ");
        problems.throw_if_any();
        throw;
      }
    }();
    for (std::size_t i = 0; i < access.size(); ++i) {
      const bool written = code_.access[i] != Access::in;
      if (written == (access[i] != Access::in)) continue;
      throw Error(ErrorCode::invalid_spec,
                  "the program " + std::string(written ? "writes" : "does not write") +
                      " tensor '" + program_.tensors[i].name + "', and its Verify " +
                      (written ? "does not" : "does"),
                  "/verify");
    }
  }

  const TileProgram& program_;
  const Tuning& tuning_;
  spec::Problems problems_;
  std::set<std::string> names_;
  std::vector<TileConstant> constants_;
  Code code_;
};

Number parse_number(const std::string& name, const std::string& text) {
  try {
    return Cursor(text).number("a value");
  } catch (const Error&) {
    throw Error(ErrorCode::invalid_spec,
                "the value " + spec::in_quotes(text) + " of '" + name + "' is not a number",
                "/tuning/constants");
  }
}

}  // namespace

std::vector<TileConstant> chosen_constants(const TileProgram& program, const Tuning& tuning) {
  std::vector<TileConstant> chosen = program.constants;
  for (const auto& [name, text] : tuning.constants) {
    const auto found = std::ranges::find(chosen, name, &TileConstant::name);
    if (found == chosen.end()) {
      std::vector<std::string_view> known;
      for (const TileConstant& constant : chosen) known.push_back(constant.name);
      throw Error(ErrorCode::invalid_spec,
                  "tuning chooses a value of " + spec::in_quotes(name) +
                      ", which is no constant of the program" +
                      core::did_you_mean(core::nearest_name(name, known)),
                  "/tuning/constants");
    }
    found->value = parse_number(name, text);
  }
  return chosen;
}

std::optional<Fused> verify_formula(const TileProgram& program) {
  if (program.verify.empty()) return std::nullopt;
  Fused op{.name = program.name,
           .symbols = program.symbols,
           .tensors = program.tensors,
           .scalars = program.scalars,
           .functions = program.functions};
  for (const TileExpression& line : program.verify) {
    op.formula += (op.formula.empty() ? "" : "\n") + line.text();
  }
  for (Tensor& tensor : op.tensors) {
    if (tensor.access != Access::inout) tensor.access = Access::automatic;
  }
  return op;
}

Code check(const TileProgram& program, const Tuning& tuning) {
  return Checker(program, tuning).run();
}

}  // namespace tilejit::program
