#pragma once

#include <memory>

#include "driver/handles.hpp"

namespace tilejit {
class Runtime;
}

namespace tilejit::memory {

/// The context that all of a Runtime lives in. Defined beside Runtime, which is of a room above.
[[nodiscard]] const std::shared_ptr<const driver::Context>& context_of(
    const Runtime& runtime) noexcept;

}  // namespace tilejit::memory
