#include "runtime/compile_options.hpp"

#include "compile/nvrtc.hpp"

namespace tilejit::runtime {

const std::vector<std::string>& own_options() {
  // Registers and spills in the log. It costs no time.
  static const std::vector<std::string> options = {"--ptxas-options=-v"};
  return options;
}

const std::vector<std::string>& all_options() {
  static const std::vector<std::string> options = [] {
    std::vector<std::string> all = compile::default_options();
    all.insert(all.end(), own_options().begin(), own_options().end());
    return all;
  }();
  return options;
}

}  // namespace tilejit::runtime
