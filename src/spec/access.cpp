#include "spec/analysis.hpp"
#include "tilejit/fused.hpp"

namespace tilejit {

std::vector<Access> resolve_access(const Fused& op) {
  return spec::analyze(op).access;
}

}  // namespace tilejit
