#include "emulation/emulated_programs.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "emulation/instructions.hpp"
#include "launch/scalar_argument.hpp"
#include "operation/descriptor.hpp"
#include "operation/source.hpp"
#include "tilejit/compiler.hpp"

namespace tilejit::test {
namespace {

constexpr Target kProgramTarget = {.major = 9, .minor = 0, .feature = 'a'};

using LaunchProgram = void(const void* params, const unsigned* shape, unsigned seed);

const operation::Step& last_step(const operation::LaunchPlan& launch) {
  return launch.steps.back();
}

/// The parameter struct as the runtime packs it.
std::vector<std::byte> pack_params(const operation::Step& step, const ProgramCase& c,
                                   std::vector<GuardedTensor>& tensors) {
  using Kind = operation::Param::Kind;
  std::vector<std::byte> params(static_cast<std::size_t>(step.params_bytes));
  for (const operation::Param& param : step.params) {
    std::byte* const at = params.data() + param.offset;
    const auto index = static_cast<std::size_t>(param.index);
    if (param.kind == Kind::pointer) {
      const void* const address = tensors[index].data();
      std::memcpy(at, &address, sizeof address);
    } else if (param.kind == Kind::scalar) {
      EXPECT_TRUE(launch::try_store_scalar(param.dtype, c.scalars[index], at));
    } else if (param.kind == Kind::dim) {
      const std::int64_t value = param.dim.evaluate(c.symbols);
      std::memcpy(at, &value, sizeof value);
    } else {
      ADD_FAILURE() << "a parameter that programs do not have";
    }
  }
  return params;
}

std::array<unsigned, 6> numbers_of(const operation::LaunchShape& shape,
                                   const SymbolValues& symbols) {
  std::array<unsigned, 6> numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    std::vector<std::int64_t> values;
    for (const std::string& name : shape.numbers[i].names()) values.push_back(symbols.at(name));
    numbers[i] = static_cast<unsigned>(shape.numbers[i].evaluate(values));
  }
  return numbers;
}

}  // namespace

void EmulatedPrograms::add(const std::string& what, ProgramCase c) {
  TileProgram program = parse_program(c.text);
  program.name = "p" + std::to_string(programs_.size());
  program.source.clear();
  const Operation op = program;
  operation::Plan plan = op.descriptor().plan(kProgramTarget);
  programs_.push_back({what, std::move(c), std::move(program), std::move(plan)});
}

/// A separate namespace, since every kernel has the same names; its macros end with it.
std::string EmulatedPrograms::source_of(std::size_t i) const {
  const operation::LaunchPlan launch = programs_[i].plan.body->launch();
  const operation::Step& step = last_step(launch);
  operation::Source source = programs_[i].plan.body->source();
  source.text = programs_[i].plan.body->header();
  emulate_instructions(source);
  std::string text = flatten(source);
  const std::string bytes = std::to_string(step.shape->numbers[6].evaluate());
  const std::string declared = "extern __shared__ __align__(128) unsigned char shared_memory[];";
  if (const std::size_t at = text.find(declared); at != text.npos) text.erase(at, declared.size());
  const std::string call = step.params.empty()
                               ? "[](int) { " + step.entry + "(); }, 0"
                               : step.entry + ", *static_cast<const Params*>(params)";
  const std::string space = "program_" + std::to_string(i);
  const std::string usual = "using namespace tile;";
  text.replace(text.rfind(usual), usual.size(),
               usual + "\nstatic unsigned char* const shared_memory = emulation::memory;\n");
  text = "namespace " + space + " {\n" + text + "}\nextern \"C\" void " + space +
         "_run(const void* params, const unsigned* n, unsigned seed) {\n  using namespace " +
         space + ";\n  emulation::launch(" + call +
         ", emulation::Shape{{n[0], n[1], n[2]}, {n[3], n[4], "
         "n[5]}, shared_memory, " +
         bytes + "}, seed, [] { emulation::copies.clear(); });\n}\n#undef TILE_DEVICE\n";
  return text;
}

bool EmulatedPrograms::compile() {
  std::string text;
  for (std::size_t i = 0; i < programs_.size(); ++i) text += source_of(i);
  library_ = compile_emulated(text);
  return library_ != nullptr;
}

std::vector<std::uint64_t> EmulatedPrograms::run(std::size_t i, std::vector<GuardedTensor>& tensors,
                                                 unsigned seed) {
  const Emulated& one = programs_[i];
  const operation::LaunchPlan launch = one.plan.body->launch();
  const operation::Step& step = last_step(launch);
  const std::string name = "program_" + std::to_string(i) + "_run";
  const auto entry = library_->find<LaunchProgram>(name);
  std::vector<std::uint64_t> words(launch.assertions.size());
  if (!words.empty()) {
    auto* const global = library_->find<std::uint64_t*>(launch.assertion_words);
    EXPECT_NE(global, nullptr) << launch.assertion_words;
    if (global != nullptr) *global = words.data();
  }
  EXPECT_NE(entry, nullptr);
  if (entry == nullptr) return words;
  const std::array<unsigned, 6> numbers = numbers_of(*step.shape, one.c.symbols);
  if (numbers[0] * numbers[1] * numbers[2] == 0) return words;
  entry(pack_params(step, one.c, tensors).data(), numbers.data(), seed);
  return words;
}

std::vector<std::uint64_t> EmulatedPrograms::failures(std::size_t i,
                                                      const std::function<double()>& next) {
  std::vector<GuardedTensor> tensors = tensors_before(programs_[i].program, programs_[i].c, next);
  return run(i, tensors, 0);
}

void EmulatedPrograms::compare(std::size_t i, const std::function<double()>& next,
                               double tolerance) {
  const Emulated& one = programs_[i];
  SCOPED_TRACE(one.what + "\n" + one.c.text);
  const std::vector<GuardedTensor> before = tensors_before(one.program, one.c, next);
  std::array<std::vector<GuardedTensor>, 2> runs = {before, before};
  for (unsigned seed = 0; seed < runs.size(); ++seed) {
    (void)library_->find<const char*()>("take_printed")();
    for (const std::uint64_t word : run(i, runs[seed], seed)) EXPECT_EQ(word, 0u);
  }
  for (std::size_t t = 0; t < one.program.tensors.size(); ++t) {
    EXPECT_EQ(runs[0][t].bytes(), runs[1][t].bytes())
        << "the order of threads matters for " << one.program.tensors[t].name;
  }
  const std::vector<std::string> printed =
      expect_interpreted(one.program, one.c, before, runs[0], tolerance);
  EXPECT_EQ(sorted_lines(library_->find<const char*()>("take_printed")()), printed);
}

}  // namespace tilejit::test
