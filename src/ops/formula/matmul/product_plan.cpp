#include "matmul/product_plan.hpp"

#include "tilejit/error.hpp"

namespace tilejit::plan {

Plan plan_product(const Fused&, const formula::Analysis&, const Target&) {
  throw Error(ErrorCode::unsupported, "no family of kernels computes products of matrices yet",
              "/formula");
}

}  // namespace tilejit::plan
