#include "program/candidates.hpp"

#include <algorithm>
#include <memory>

#include "operation/constant_search.hpp"
#include "program/check.hpp"
#include "program/kernel_plan.hpp"

namespace tilejit::program {

std::vector<Tuning> candidates(const TileProgram& program, const Target& target,
                               std::size_t budget) {
  (void)check(program, program.tuning);
  std::vector<operation::TunedConstant> tuned;
  for (const TileValues& tune : program.tune) {
    operation::TunedConstant& made = tuned.emplace_back();
    made.name = tune.name;
    const auto found = std::ranges::find(program.constants, tune.name, &TileConstant::name);
    if (found != program.constants.end()) made.usual = to_string(found->value);
    for (const Number& value : tune.values) made.values.push_back(to_string(value));
  }
  const auto shared = std::make_shared<const TileProgram>(program);
  return operation::search_constants(program.tuning, tuned, budget, [&](const Tuning& tuning) {
    (void)make_plan(shared, tuning, target);
  });
}

}  // namespace tilejit::program
