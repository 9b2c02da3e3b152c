#include "front/compile_options.hpp"

#include <array>

#include "compile/nvrtc.hpp"

namespace tilejit::front {
namespace {

using OptionLists = std::array<std::vector<std::string>, 2>;  // by effort

OptionLists with_defaults(const OptionLists& own) {
  OptionLists all;
  for (std::size_t i = 0; i < own.size(); ++i) {
    all[i] = compile::default_options();
    all[i].insert(all[i].end(), own[i].begin(), own[i].end());
  }
  return all;
}

const OptionLists& own_lists() {
  // Registers and spills in the log cost no time. The time that less optimisation saves depends on
  // the kernel (docs/compiling.md).
  static const OptionLists lists = {
      {{"--ptxas-options=-v"}, {"--ptxas-options=-v", "--Ofast-compile=min"}}};
  return lists;
}

}  // namespace

const std::vector<std::string>& own_options(Effort effort) {
  return own_lists()[static_cast<std::size_t>(effort)];
}

const std::vector<std::string>& all_options(Effort effort) {
  static const OptionLists lists = with_defaults(own_lists());
  return lists[static_cast<std::size_t>(effort)];
}

}  // namespace tilejit::front
