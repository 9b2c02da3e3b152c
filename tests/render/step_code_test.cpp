// How the steps of a walk through a box become copies of code and turns of a loop.
#include "box/step_code.hpp"

#include <gtest/gtest.h>

namespace tilejit::render {
namespace {

/// A walk of one thread along every mode, which has as many steps as the box is long.
plan::Walk steps_of(const plan::Box& box) {
  plan::Walk walk;
  for (std::size_t m = 0; m < box.extents.size(); ++m) {
    walk.modes.push_back(m);
    walk.threads.push_back(1);
  }
  return walk;
}

TEST(StepCode, FillsTheCopiesFirst) {
  struct Row {
    std::vector<std::int64_t> steps;
    std::int64_t most, copies, groups;
    std::vector<std::string> text;
  };
  const Row kRows[] = {
      {{4, 7}, 100, 28, 1, {"u32(i) % 4", "u32(i) / 4 % 7"}},
      {{4, 7}, 16, 16, 2, {"u32(i) % 4", "(u32(i) / 4 % 4 + u32(g) % 2 * 4)"}},
      {{4, 7}, 5, 4, 7, {"u32(i) % 4", "u32(g) % 7"}},
      {{9}, 4, 3, 3, {"(u32(i) % 3 + u32(g) % 3 * 3)"}},
      {{9, 2}, 4, 3, 6, {"(u32(i) % 3 + u32(g) % 3 * 3)", "u32(g) / 3 % 2"}},
      {{3, 2}, 1, 1, 6, {"u32(g) % 3", "u32(g) / 3 % 2"}},
      {{3, 2}, 0, 1, 6, {"u32(g) % 3", "u32(g) / 3 % 2"}},  // a formula over any budget
  };
  for (const Row& row : kRows) {
    const plan::Box box{.extents = row.steps};
    const StepCode code(box, steps_of(box), row.most);
    SCOPED_TRACE(row.text.back());
    EXPECT_EQ(code.copies(), row.copies);
    EXPECT_EQ(code.groups(), row.groups);
    for (std::size_t at = 0; at < row.steps.size(); ++at) {
      EXPECT_GE(code.steps_along(at), row.steps[at]);
      EXPECT_EQ(code.text(at), row.text[at]);
    }
  }
}

TEST(StepCode, NamesTheFirstCopyThatIsAlike) {
  struct Row {
    std::vector<bool> varies;
    const char* first;
  };
  const Row kRows[] = {
      {{true, true, true}, ""},
      {{false, false, false}, "0"},
      {{true, false, false}, "u32(i) % 4"},
      {{false, true, false}, "u32(i) / 4 % 3 * 4"},
      {{true, false, true}, "u32(i) % 4 + u32(i) / 12 % 2 * 12"},
  };
  const plan::Box box{.extents = {4, 3, 2}};
  const StepCode code(box, steps_of(box), 24);
  for (const Row& row : kRows) EXPECT_EQ(code.first_alike(row.varies), row.first);
}

}  // namespace
}  // namespace tilejit::render
