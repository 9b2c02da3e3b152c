#pragma once

#include <memory>

#include "driver/handles.hpp"

namespace tilejit {
class Runtime;
}

namespace tilejit::memory {

/// The context that everything of a Runtime lives in. Defined beside Runtime, in src/launch.
[[nodiscard]] const std::shared_ptr<const driver::Context>& context_of(
    const Runtime& runtime) noexcept;

}  // namespace tilejit::memory
