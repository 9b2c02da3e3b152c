#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace tilejit::compile {

/// Identifies a build of a shared library by a few KB of its file, without loading it: the ELF
/// build id in hex or, if it has none, "fnv1a64:" and 16 hex digits that depend on its size and its
/// first and last 64 KiB. Nothing if `file` cannot be read or is not an ELF file for this kind of
/// machine. Safe for files of any content.
[[nodiscard]] std::optional<std::string> elf_id(const std::filesystem::path& file);

}  // namespace tilejit::compile
