#include "compile/elf_id.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <functional>
#include <random>
#include <string>

#include "fake_elf.hpp"
#include "support.hpp"

namespace tilejit::compile {
namespace {

using ::testing::MatchesRegex;

constexpr const char* kFnv = "fnv1a64:[0-9a-f]{16}";

class ElfId : public ::testing::Test {
 protected:
  std::optional<std::string> id_of(const std::string& bytes) {
    write_file(folder_.path() / "lib.so", bytes);
    return elf_id(folder_.path() / "lib.so");
  }

  TempFolder folder_;
};

struct ElfCase {
  const char* name;
  std::function<void(FakeElf&)> change;
};

TEST_F(ElfId, IsTheBuildId) {
  const ElfCase cases[] = {
      {"plain", [](FakeElf&) {}},
      {"behind another note",
       [](FakeElf& elf) {
         elf.note_text = std::string("GNU\0abcd", 8) + bytes_of(elf.note) + elf.note_text;
         elf.note = {4, 4, NT_GNU_ABI_TAG};
         elf.segment.p_filesz = sizeof elf.note + elf.note_text.size();
       }},
      {"behind another note, aligned to 8 bytes",
       [](FakeElf& elf) {
         elf.note_text = std::string("GNU\0abcd\0\0\0\0", 12) + bytes_of(elf.note) + elf.note_text;
         elf.note = {4, 4, NT_GNU_ABI_TAG};
         elf.segment.p_filesz = sizeof elf.note + elf.note_text.size();
         elf.segment.p_align = 8;
       }},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    FakeElf elf;
    c.change(elf);
    EXPECT_EQ(id_of(elf.bytes()), "deadbeef");
  }
}

TEST_F(ElfId, IsAHashWithoutAReadableBuildId) {
  const ElfCase cases[] = {
      {"no program headers", [](FakeElf& elf) { elf.header.e_phnum = 0; }},
      {"65535 program headers", [](FakeElf& elf) { elf.header.e_phnum = 0xffff; }},
      {"headers behind the end", [](FakeElf& elf) { elf.header.e_phoff = 1 << 20; }},
      {"headers at 2^64-1", [](FakeElf& elf) { elf.header.e_phoff = ~0ull; }},
      {"headers of another size", [](FakeElf& elf) { elf.header.e_phentsize = 3; }},
      {"no note", [](FakeElf& elf) { elf.segment.p_type = PT_LOAD; }},
      {"note behind the end", [](FakeElf& elf) { elf.segment.p_offset = 1ull << 40; }},
      {"note at 2^64-1", [](FakeElf& elf) { elf.segment.p_offset = ~0ull; }},
      {"note of 2^64-1 bytes", [](FakeElf& elf) { elf.segment.p_filesz = ~0ull; }},
      {"note longer than the file", [](FakeElf& elf) { elf.segment.p_filesz = 1000; }},
      {"note shorter than its header", [](FakeElf& elf) { elf.segment.p_filesz = 11; }},
      {"note cut in its text", [](FakeElf& elf) { elf.segment.p_filesz = 19; }},
      {"name of 2^32-1 bytes", [](FakeElf& elf) { elf.note.n_namesz = ~0u; }},
      {"text of 2^32-1 bytes", [](FakeElf& elf) { elf.note.n_descsz = ~0u; }},
      {"empty build id", [](FakeElf& elf) { elf.note.n_descsz = 0; }},
      {"another owner", [](FakeElf& elf) { elf.note_text[0] = 'X'; }},
      {"another note", [](FakeElf& elf) { elf.note.n_type = NT_GNU_ABI_TAG; }},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    FakeElf elf;
    c.change(elf);
    const auto id = id_of(elf.bytes());
    ASSERT_TRUE(id);
    EXPECT_THAT(*id, MatchesRegex(kFnv));
    EXPECT_EQ(id_of(elf.bytes()), id);
    EXPECT_NE(id_of(elf.bytes() + '\0'), id);
  }
}

TEST_F(ElfId, HashSeesSizeHeadAndTail) {
  FakeElf elf;
  elf.header.e_phnum = 0;
  const std::string bytes = elf.bytes() + std::string(300000, 'x');
  std::string head = bytes, tail = bytes;
  head[1000] = 'y';
  tail[tail.size() - 1000] = 'y';
  EXPECT_NE(id_of(bytes), id_of(head));
  EXPECT_NE(id_of(bytes), id_of(tail));
  EXPECT_NE(id_of(bytes), id_of(bytes + 'x'));
}

TEST_F(ElfId, IsNothingForOtherFiles) {
  const ElfCase cases[] = {
      {"32 bits", [](FakeElf& elf) { elf.header.e_ident[EI_CLASS] = ELFCLASS32; }},
      {"big-endian", [](FakeElf& elf) { elf.header.e_ident[EI_DATA] = ELFDATA2MSB; }},
      {"another machine", [](FakeElf& elf) { elf.header.e_machine = EM_S390; }},
      {"another magic", [](FakeElf& elf) { elf.header.e_ident[0] = 'M'; }},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    FakeElf elf;
    c.change(elf);
    EXPECT_EQ(id_of(elf.bytes()), std::nullopt);
  }
  EXPECT_EQ(id_of(""), std::nullopt);
  EXPECT_EQ(id_of("/* GNU ld script */ INPUT(libnvrtc.so.13)"), std::nullopt);
  EXPECT_EQ(elf_id(folder_.path()), std::nullopt);
  EXPECT_EQ(elf_id(folder_.path() / "missing"), std::nullopt);
  ASSERT_EQ(::mkfifo((folder_.path() / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(elf_id(folder_.path() / "fifo"), std::nullopt);
}

TEST_F(ElfId, SurvivesEveryTruncation) {
  const std::string bytes = FakeElf().bytes();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_NE(id_of(bytes.substr(0, size)), "deadbeef") << size << " bytes";
    EXPECT_EQ(id_of(bytes.substr(0, size)).has_value(), size >= sizeof(Elf64_Ehdr)) << size;
  }
}

// There is nothing to compare with: this runs for the sanitizers.
TEST_F(ElfId, SurvivesRandomHeaders) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::string bytes = FakeElf().bytes();
    for (int i = 0; i < 4; ++i) {
      const std::size_t at = EI_NIDENT + 4 + random() % (bytes.size() - EI_NIDENT - 4);
      bytes[at] = static_cast<char>(random());
    }
    EXPECT_TRUE(id_of(bytes)) << "round " << round;
  }
}

}  // namespace
}  // namespace tilejit::compile
