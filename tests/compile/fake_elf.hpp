#pragma once

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

namespace tilejit::compile {

template <class T>
std::string bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

/// A shared library of headers and one note only; tests corrupt its fields.
struct FakeElf {
  Elf64_Ehdr header = {};
  Elf64_Phdr segment = {};
  Elf64_Nhdr note = {4, 4, NT_GNU_BUILD_ID};
  std::string note_text = std::string("GNU\0\xde\xad\xbe\xef", 8);

  FakeElf() {
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_type = ET_DYN;
#if defined(__x86_64__)
    header.e_machine = EM_X86_64;
#else
    header.e_machine = EM_AARCH64;
#endif
    header.e_phoff = sizeof(Elf64_Ehdr);
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = 1;
    segment.p_type = PT_NOTE;
    segment.p_offset = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr);
    segment.p_filesz = sizeof(Elf64_Nhdr) + note_text.size();
    segment.p_align = 4;
  }

  [[nodiscard]] std::string bytes() const {
    return bytes_of(header) + bytes_of(segment) + bytes_of(note) + note_text;
  }
};

inline void write_file(const std::filesystem::path& path, const std::string& bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace tilejit::compile
