#include "reference/steps.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "formula/attention.hpp"
#include "reference/attention_errors.hpp"
#include "reference/execute.hpp"
#include "reference/keep.hpp"
#include "reference/problem.hpp"

namespace tilejit::reference {
namespace {

using formula::Analysis;
using formula::Step;

constexpr double kMostProducts = 0x1p32;  // of a product that the CPU verifies whole: seconds
constexpr double kManyProducts = 0x1p26;  // that are multiplied elsewhere, if that is possible

/// Runs the steps of an operation one after another.
class StepRunner {
 public:
  StepRunner(const Fused& op, const Analysis& analysis, const HostArguments& args,
             WithBounds with_bounds, const MultiplyReals& multiply)
      : op_(op),
        analysis_(analysis),
        args_(args),
        with_bounds_(with_bounds),
        multiply_(multiply),
        kept_(op.tensors.size() + analysis.results.size()),
        attentions_(analysis.steps.size()),
        is_of_rows_(analysis.steps.size()) {
    for (std::size_t s = 0; s < analysis.steps.size(); ++s) {
      const std::optional<formula::Attention> found = formula::find_attention(analysis, s).found;
      if (!found) continue;
      attentions_[s] = attentions_[found->weights] = found;
      if (found->rows) is_of_rows_[*found->rows] = true;
    }
  }

  /// Calls work(problem) for each step and keeps what later steps read.
  template <class Work>
  void run(const Work& work) {
    for (std::size_t s = 0; s < analysis_.steps.size(); ++s) {
      Problem problem = problem_of(s);
      std::vector<std::pair<std::size_t, std::shared_ptr<KeptValues>>> made;
      for (const expr::Store& store : problem.program.stores) {
        const auto local = static_cast<std::size_t>(store.tensor);
        const auto number = static_cast<std::size_t>(analysis_.steps[s].tensors[local]);
        if (!is_kept(s, number)) continue;
        TensorView& view = problem.tensors[local];
        made.emplace_back(number, std::make_shared<KeptValues>(
                                      make_kept(view.dtype, cosize(view), with_bounds_)));
        view.keeps = made.back().second.get();
      }
      work(analysis_.steps[s], problem);
      for (auto& [number, values] : made) kept_[number] = std::move(values);
      drop_after(s);
    }
  }

 private:
  [[nodiscard]] bool is_result(std::size_t number) const { return number >= op_.tensors.size(); }

  [[nodiscard]] bool is_read_after(std::size_t s, std::size_t number) const {
    return std::any_of(analysis_.steps.begin() + static_cast<std::ptrdiff_t>(s) + 1,
                       analysis_.steps.end(), [&](const Step& step) {
                         for (std::size_t i = 0; i < step.tensors.size(); ++i) {
                           if (step.tensors[i] == static_cast<int>(number) &&
                               step.analysis.access[i] != Access::out)
                             return true;
                         }
                         return false;
                       });
  }

  /// Outputs are in memory when evaluating; when verifying, memory has what is judged.
  [[nodiscard]] bool is_kept(std::size_t s, std::size_t number) const {
    return is_result(number) || (with_bounds_ == WithBounds::yes && is_read_after(s, number));
  }

  [[nodiscard]] Problem problem_of(std::size_t s) const {
    const Step& step = analysis_.steps[s];
    HostArguments args{.tensors = {}, .scalars = args_.scalars, .symbols = args_.symbols};
    for (const int number : step.tensors) {
      const auto n = static_cast<std::size_t>(number);
      args.tensors.push_back(is_result(n) ? nullptr : args_.tensors[n]);
    }
    Problem problem = make_problem(step.op, step.analysis, args, Needs::none);
    for (std::size_t i = 0; i < step.tensors.size(); ++i)
      problem.tensors[i].kept = kept_[static_cast<std::size_t>(step.tensors[i])].get();
    if (problem.product) choose_way(s, problem, *problem.product);
    if (const auto& attention = attentions_[s]) {
      if (problem.product) {
        problem.product->skips_zeros = true;
      } else {
        problem.errors = attention_errors(step, *attention, problem.shape.back());
        TensorView& weights = problem.tensors[static_cast<std::size_t>(attention->result)];
        weights.error = error_of_kept_weights(weights.dtype);
      }
    }
    if (is_of_rows_[s]) problem.errors = errors_of_rows(step, problem.shape.back());
    return problem;
  }

  void choose_way(std::size_t s, const Problem& problem, ProductProblem& product) const {
    const auto products =
        static_cast<double>(count_elements(problem.shape)) * static_cast<double>(product.k);
    if (multiply_ && products > kManyProducts) {
      product.multiply = &multiply_;
    } else {
      product.sampled = products > kMostProducts && may_be_sampled(s, problem);
    }
  }

  [[nodiscard]] bool may_be_sampled(std::size_t s, const Problem& problem) const {
    if (with_bounds_ == WithBounds::no) return false;
    return std::ranges::none_of(problem.program.stores, [&](const expr::Store& store) {
      const int number = analysis_.steps[s].tensors[static_cast<std::size_t>(store.tensor)];
      return is_kept(s, static_cast<std::size_t>(number));
    });
  }

  static std::int64_t cosize(const TensorView& view) {
    std::int64_t last = 0;
    for (const ModeLeaves& leaves : view.modes) {
      for (const Leaf& leaf : leaves) {
        if (leaf.extent == 0) return 0;
        last += (leaf.extent - 1) * leaf.stride;
      }
    }
    return last + 1;
  }

  void drop_after(std::size_t s) {
    for (std::size_t number = 0; number < kept_.size(); ++number) {
      if (kept_[number] && !is_read_after(s, number)) kept_[number] = nullptr;
    }
  }

  const Fused& op_;
  const Analysis& analysis_;
  const HostArguments& args_;
  WithBounds with_bounds_;
  const MultiplyReals& multiply_;
  std::vector<std::shared_ptr<KeptValues>> kept_;  // by number; null: in the memory of `args`
  std::vector<std::optional<formula::Attention>> attentions_;  // by step with weights or values
  std::vector<bool> is_of_rows_;                               // by step: Attention::rows
};

}  // namespace

void evaluate_steps(const Fused& op, const Analysis& analysis, const HostArguments& args) {
  StepRunner(op, analysis, args, WithBounds::no, {}).run([](const Step&, const Problem& problem) {
    evaluate(problem);
  });
}

Verification verify_steps(const Fused& op, const Analysis& analysis, const HostArguments& inputs,
                          std::span<const void* const> actual, const VerifyOptions& options) {
  Verification total;
  total.passed = true;
  StepRunner(op, analysis, inputs, WithBounds::yes, options.multiply)
      .run([&](const Step& step, const Problem& problem) {
        std::vector<const void*> own;
        for (const int number : step.tensors) {
          const auto n = static_cast<std::size_t>(number);
          own.push_back(n < actual.size() ? actual[n] : nullptr);
        }
        const Verification part = verify(problem, own);
        total.passed = total.passed && part.passed;
        total.elements += part.elements;
        total.mismatches += part.mismatches;
        total.max_error = std::max(total.max_error, part.max_error);
        total.max_ratio = std::max(total.max_ratio, part.max_ratio);
        if (total.first_mismatch.empty()) total.first_mismatch = part.first_mismatch;
      });
  return total;
}

}  // namespace tilejit::reference
