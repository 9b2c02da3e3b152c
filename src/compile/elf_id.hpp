#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace tilejit::compile {

/// What tells one build of a shared library from another, read without loading it (a few KB of it):
/// the ELF build id in hex, or, if it has none, "fnv1a64:" and 16 hex digits that depend on its
/// size and its first and last 64 KiB. Nothing if `file` cannot be read or is not an ELF file of
/// this kind of machine. Any bytes are safe to read.
[[nodiscard]] std::optional<std::string> elf_id(const std::filesystem::path& file);

}  // namespace tilejit::compile
