#include "render/budget.hpp"

#include <string>

#include "tilejit/error.hpp"

namespace tilejit::render {

void Budget::take(std::int64_t weight) {
  left_ -= weight;
  if (left_ >= 0) return;
  throw Error(ErrorCode::unsupported,
              "the kernels take more than " + std::to_string(kMost) +
                  " operations to write out: values are computed again in each kernel, and in each "
                  "pass over a row, that reads them; split the formula",
              "/formula");
}

}  // namespace tilejit::render
