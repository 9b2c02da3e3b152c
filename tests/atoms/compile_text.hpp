#pragma once

#include <cstdlib>
#include <string>

#include "compile/nvrtc.hpp"
#include "templates/templates.hpp"

namespace tilejit::atoms {

inline const compile::Nvrtc& nvrtc() {
  static const compile::Nvrtc loaded = [] {
    const char* path = std::getenv("TILEJIT_NVRTC");
    return compile::Nvrtc(path == nullptr ? "" : path);
  }();
  return loaded;
}

inline operation::Source source_of(const std::string& text) {
  operation::Source source{.name = "atoms.cu", .text = text, .headers = {}};
  for (const templates::Template& file : templates::tile_library()) {
    source.headers.emplace_back(std::string(file.name), std::string(file.text));
  }
  return source;
}

inline compile::Compiled compile_text(const std::string& text, const std::string& target) {
  return nvrtc().compile(
      {.source = source_of(text), .target = target, .options = {"--ptxas-options=-v"}});
}

}  // namespace tilejit::atoms
