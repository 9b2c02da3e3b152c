#pragma once

#include <functional>
#include <string>

#include "compile/message.hpp"
#include "compile/nvrtc.hpp"

namespace tilejit::compile {

/// A compiler as a worker sees it.
struct Engine {
  std::string build;    ///< CompilerId::build
  std::string version;  ///< "13.0"
  std::function<Compiled(const Request&)> compile;
};

/// What a worker does: answers the orders that come over `socket` until its other end is closed.
/// `open` loads the compiler that the Hello names; an Error it throws is the worker's refusal. Ends
/// the process when the other end is closed during a compile. Returns the process's exit status.
[[nodiscard]] int serve(int socket, const std::function<Engine(const Hello&)>& open);

/// The NVRTC that `hello` names. Throws Error{no_compiler}.
[[nodiscard]] Engine open_nvrtc(const Hello& hello);

}  // namespace tilejit::compile
