#include "emulation/emulated_programs.hpp"

#include <array>

#include "emulation/instructions.hpp"
#include "operation/descriptor.hpp"
#include "operation/source.hpp"
#include "tilejit/compiler.hpp"

namespace tilejit::test {
namespace {

constexpr Target kProgramTarget = {.major = 9, .minor = 0, .feature = 'a'};

const operation::Step& last_step(const operation::LaunchPlan& launch) {
  return launch.steps.back();
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
  const std::string space = "program_" + std::to_string(i);
  return "namespace " + space + " {\n" + text_for_cpu(source) + "}\n" +
         exported(space + "_run", space, step.entry) + "#undef TILE_DEVICE\n";
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
  std::vector<std::uint64_t> words(launch.assertions.size());
  if (!words.empty()) {
    auto* const global = library_->find<std::uint64_t*>(launch.assertion_words);
    EXPECT_NE(global, nullptr) << launch.assertion_words;
    if (global != nullptr) *global = words.data();
  }
  EmulatedArguments arguments{.tensors = {}, .scalars = one.c.scalars, .symbols = one.c.symbols};
  for (GuardedTensor& tensor : tensors) arguments.tensors.push_back(tensor.data());
  const PackedParams params(step, arguments, {});
  EXPECT_EQ(run_emulated(*library_, name, params.data(), shape_of(step, one.c.symbols, seed)), "");
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
