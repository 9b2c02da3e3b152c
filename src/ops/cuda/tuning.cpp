#include "cuda/tuning.hpp"

#include <algorithm>
#include <memory>

#include "cuda/constants.hpp"
#include "cuda/plan.hpp"
#include "operation/constant_search.hpp"

namespace tilejit::cuda {

std::vector<Tuning> candidates(const Resolved& kernel, const Target& target, std::size_t budget) {
  (void)check(kernel, kernel.tuning);
  std::vector<operation::TunedConstant> tuned;
  for (const CudaTune& tune : kernel.tune) {
    operation::TunedConstant& made = tuned.emplace_back();
    made.name = tune.name;
    const auto found = std::ranges::find(kernel.constants, tune.name, &CudaConstant::name);
    if (found != kernel.constants.end()) made.usual = to_text(found->value);
    for (const CudaConstant::Value& value : tune.values) made.values.push_back(to_text(value));
  }
  const auto shared = std::make_shared<const Resolved>(kernel);
  return operation::search_constants(kernel.tuning, tuned, budget, [&](const Tuning& tuning) {
    (void)make_plan(shared, tuning, target);
  });
}

}  // namespace tilejit::cuda
