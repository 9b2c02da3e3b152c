#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tilejit::test {

/// Machine code of a cubin's kernels: instructions by kernel, such as
/// "HMMA.16816.F32.BF16 R4, R8, R12, R4". Only if has_disassembler().
[[nodiscard]] std::map<std::string, std::vector<std::string>> sass_of(std::string_view cubin);
/// Whether there is one: on PATH, in a toolkit, or where tools/setup --tests puts it. Tests skip
/// without one.
[[nodiscard]] bool has_disassembler();
inline constexpr const char* kNoDisassembler =
    "neither nvdisasm nor cuobjdump is installed; tools/setup --tests provides one";

}  // namespace tilejit::test
