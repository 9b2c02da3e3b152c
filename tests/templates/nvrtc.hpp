#pragma once

#include <cstdlib>

#include "compile/nvrtc.hpp"

namespace tilejit::test {

/// NVRTC is part of CI's set-up, so its absence there is a failure, not a reason to skip.
inline const compile::Nvrtc& nvrtc() {
  static const compile::Nvrtc loaded = [] {
    const char* path = std::getenv("TILEJIT_NVRTC");
    return compile::Nvrtc(path == nullptr ? "" : path);
  }();
  return loaded;
}

}  // namespace tilejit::test
