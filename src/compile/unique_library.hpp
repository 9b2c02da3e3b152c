#pragma once

#include <dlfcn.h>

#include <memory>

namespace tilejit::compile {

struct CloseLibrary {
  void operator()(void* library) const noexcept { ::dlclose(library); }
};
using UniqueLibrary = std::unique_ptr<void, CloseLibrary>;

}  // namespace tilejit::compile
