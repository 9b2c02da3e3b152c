#pragma once

#include <functional>
#include <string>

#include "compile/message.hpp"
#include "compile/nvrtc.hpp"

namespace tilejit::compile {

/// A compiler, as a worker uses it.
struct Engine {
  std::string build;    ///< CompilerId::build
  std::string version;  ///< "13.0"
  std::function<Compiled(const Request&)> compile;
};

/// The work of a worker: answers the orders that arrive on `socket` until the other end is closed.
/// `open` loads the compiler that the Hello names; if it throws an Error, the worker refuses with
/// it. If the other end is closed during a compile, the process ends. Returns the process's exit
/// status.
[[nodiscard]] int serve(int socket, const std::function<Engine(const Hello&)>& open);

/// The NVRTC that `hello` names. Throws Error{no_compiler}.
[[nodiscard]] Engine open_nvrtc(const Hello& hello);

}  // namespace tilejit::compile
