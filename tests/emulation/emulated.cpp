#include "emulation/emulated.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <span>
#include <string>

#include "emulation/instructions.hpp"
#include "render/render.hpp"

namespace tilejit::test {
namespace {

/// The entry of a step of case `i`.
std::string entry_name(std::size_t i, std::size_t step) {
  return "emulated_" + std::to_string(i) + "_" + std::to_string(step);
}

std::span<const plan::Plan> kernels_of(const plan::Plan& plan) {
  const std::span<const plan::Plan> parts = plan::parts_of(plan);
  return parts.empty() ? std::span(&plan, 1) : parts;
}

/// The namespace in `space` that an entry lies in.
std::string space_of(const plan::Plan& plan, const std::string& entry, const std::string& space) {
  const std::span<const plan::Plan> parts = plan::parts_of(plan);
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const std::string& name = parts[k].kernel_name;
    if (entry == name || entry == name + "_combine") return space + "::part" + std::to_string(k);
  }
  return space;
}

/// The macros that a source defines.
std::set<std::string> macros_of(const std::string& text) {
  const std::string define = "#define ";
  std::set<std::string> names;
  for (std::size_t at = text.find(define); at != std::string::npos; at = text.find(define, at)) {
    at += define.size();
    names.insert(text.substr(at, text.find_first_of(" (\n", at) - at));
  }
  return names;
}

}  // namespace

int random_cases(int usual) {
  const char* const asked = std::getenv("TILEJIT_TEST_CASES");
  return asked == nullptr ? usual : std::atoi(asked);
}

bool EmulatedKernels::can_run(const Fused& op) {
  const auto of_device = [](const auto& one) { return one.dtype == f8e4m3 || one.dtype == f8e5m2; };
  return std::ranges::none_of(op.tensors, of_device) && std::ranges::none_of(op.scalars, of_device);
}

std::string EmulatedKernels::templates_of(const Fused& op, Target target) {
  const plan::Plan plan = plan::make_plan(op, formula::analyze(op), target);
  std::string names;
  for (const plan::Plan& kernel : kernels_of(plan))
    names += std::string(plan::template_name(kernel)) + " ";
  return names;
}

void EmulatedKernels::add(const std::string& what, RandomCase c) {
  c.op.name = "k" + std::to_string(kernels_.size());
  plan::Plan plan = plan::make_plan(c.op, formula::analyze(c.op), target_);
  kernels_.push_back({what, std::move(c), std::move(plan), {}});
}

void EmulatedKernels::add_ordered(const std::string& what, RandomCase c, std::size_t first) {
  add(what, std::move(c));
  plan::Family& family = kernels_.back().plan.family;
  if (auto* const box = std::get_if<plan::Box>(&family)) box->first = first;
  if (auto* const tile = std::get_if<plan::Tile>(&family)) tile->first = first;
  if (auto* const sheared = std::get_if<plan::Sheared>(&family)) sheared->first = first;
}

bool EmulatedKernels::add_light(const std::string& what, RandomCase c) {
  c.op.name = "k" + std::to_string(kernels_.size());
  const formula::Analysis analysis = formula::analyze(c.op);
  auto light = plan::make_light_plan(c.op, analysis, plan::make_plan(c.op, analysis, target_));
  if (!light) return false;
  kernels_.push_back({what, std::move(c), *std::move(light), {}});
  return true;
}

/// A separate namespace, since every kernel has the same names; its macros end with it.
std::string EmulatedKernels::source_of(std::size_t i) const {
  const plan::Plan& plan = kernels_[i].plan;
  const std::string space = "kernel_" + std::to_string(i);
  std::string text = text_for_cpu(render::render(plan));
  for (const auto& [from, to] : kernels_[i].changes) {
    std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    for (; at != std::string::npos; at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
  }
  text = "namespace " + space + " {\n" + text + "}\n";
  const operation::LaunchPlan launch = plan::launch_plan(plan);
  for (std::size_t k = 0; k < launch.steps.size(); ++k) {
    const std::string& entry = launch.steps[k].entry;
    text += exported(entry_name(i, k), space_of(plan, entry, space), entry);
  }
  for (const std::string& macro : macros_of(text)) text += "#undef " + macro + "\n";
  return text;
}

void EmulatedKernels::change(const std::string& from, const std::string& to) {
  kernels_.back().changes.emplace_back(from, to);
}

bool EmulatedKernels::compile() {
  std::string text;
  for (std::size_t i = 0; i < kernels_.size(); ++i) text += source_of(i);
  library_ = compile_emulated(text);
  return library_ != nullptr;
}

void EmulatedKernels::verify_all(Random& random) {
  for (std::size_t i = 0; i < kernels_.size(); ++i) {
    SCOPED_TRACE(kernels_[i].what + "\n" + to_json(kernels_[i].c.op));
    EXPECT_EQ(wrong(i, random), "");
  }
}

void EmulatedKernels::expect_all_wrong(Random& random) const {
  for (std::size_t i = 0; i < kernels_.size(); ++i) {
    EXPECT_NE(wrong(i, random), "") << kernels_[i].what;
  }
}

std::vector<GuardedTensor> EmulatedKernels::verify(std::size_t i,
                                                   const std::function<double()>& next) {
  std::vector<GuardedTensor> result;
  EXPECT_EQ(run_filled(
                i, [&](GuardedTensor& tensor) { tensor.fill(next); }, result),
            "");
  return result;
}

std::string EmulatedKernels::run(std::size_t i, std::vector<GuardedTensor>& tensors,
                                 EmulatedWorkspaces& workspaces, unsigned seed) const {
  const RandomCase& c = kernels_[i].c;
  const operation::LaunchPlan launch = plan::launch_plan(kernels_[i].plan);
  EmulatedArguments arguments{.tensors = {}, .scalars = c.scalars, .symbols = c.symbols};
  for (GuardedTensor& tensor : tensors) arguments.tensors.push_back(tensor.data());
  for (std::size_t k = 0; k < launch.steps.size(); ++k) {
    const operation::Step& step = launch.steps[k];
    const PackedParams params(step, arguments, workspaces.addresses());
    std::string wrong =
        run_emulated(*library_, entry_name(i, k), params.data(), shape_of(step, c.symbols, seed));
    if (!wrong.empty()) return step.entry + ": " + wrong;
  }
  return "";
}

std::string EmulatedKernels::run_filled(std::size_t i, const Fill& fill,
                                        std::vector<GuardedTensor>& result) const {
  const Emulated& one = kernels_[i];
  const RandomCase& c = one.c;
  const formula::Analysis analysis = formula::analyze(c.op);
  std::vector<GuardedTensor> before;
  for (std::size_t t = 0; t < c.op.tensors.size(); ++t) {
    before.emplace_back(c.op.tensors[t], c.symbols);
    if (analysis.access[t] != Access::out) fill(before.back());
  }
  HostArguments inputs{.tensors = {}, .scalars = c.scalars, .symbols = c.symbols};
  for (GuardedTensor& tensor : before) inputs.tensors.push_back(tensor.data());
  EmulatedWorkspaces workspaces(plan::launch_plan(one.plan), c.symbols);
  std::vector<GuardedTensor> again = before;
  result = before;
  for (unsigned seed = 0; seed < 2; ++seed) {
    const std::string wrong = run(i, seed == 0 ? result : again, workspaces, seed);
    if (!wrong.empty()) return wrong;
  }
  std::vector<const void*> actual;
  for (std::size_t t = 0; t < c.op.tensors.size(); ++t) {
    const std::string written = result[t].check_guards();
    if (!written.empty()) return "tensor " + c.op.tensors[t].name + ": " + written;
    actual.push_back(result[t].data());
  }
  const Verification verified = tilejit::verify(c.op, inputs, actual);
  if (!verified.passed) {
    return verified.first_mismatch + " (" + std::to_string(verified.mismatches) + " of " +
           std::to_string(verified.elements) + ")";
  }
  for (std::size_t t = 0; t < c.op.tensors.size(); ++t) {
    if (result[t].bytes() != again[t].bytes()) return "the order of the threads matters";
  }
  return "";
}

std::string EmulatedKernels::wrong(std::size_t i, Random& random) const {
  std::vector<GuardedTensor> result;
  return run_filled(
      i, [&](GuardedTensor& tensor) { tensor.fill(random); }, result);
}

}  // namespace tilejit::test
