#include <cstdlib>

#include "compile/disassemble.hpp"
#include "front/compiler_impl.hpp"
#include "front/log.hpp"
#include "tilejit/error.hpp"

namespace tilejit {

void Compiler::Impl::keep_sass(const std::string& key, const std::string& cubin) {
  try {
    const char* const path = std::getenv("PATH");
    const auto nvrtc = compile::find_nvrtc(options.nvrtc_path);
    const auto program = compile::find_disassembler(path != nullptr ? path : "",
                                                    nvrtc ? nvrtc->path : std::filesystem::path());
    if (!program) {
      throw Error(ErrorCode::io,
                  "there is no nvdisasm and no cuobjdump; put one of the CUDA toolkit's on PATH");
    }
    store.keep(key, "sass", compile::disassemble(*program, cubin, options.worker_timeout));
  } catch (const Error& error) {
    const std::string why = error.what();
    std::call_once(sass_warned_, [&] { front::warn("SASS is not kept: " + why); });
  }
}

front::LineInfo Compiler::Impl::line_info() const noexcept {
  return options.line_info ? front::LineInfo::yes : front::LineInfo::no;
}

}  // namespace tilejit
