#include <gtest/gtest.h>

#include <string>

#include "tilejit/cache/store.hpp"

namespace tilejit::cache {
namespace {

const Entry kGolden{
    "\x7f"
    "ELF payload",
    R"({"registers":24})"};

std::string from_hex(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

// Written by hand from cache/FORMAT.md: a change here is a change of the format.
std::string golden_file() {
  return from_hex("7f454c46207061796c6f6164")            // payload
         + from_hex("7b22726567697374657273223a32347d")  // metadata
         + from_hex("746a656e7472790a")                  // magic
         + from_hex("0100000000000000")                  // version, flags
         + from_hex("0c000000000000001000000000000000")  // lengths of payload and metadata
         + from_hex("d3a8a3fc16d1b1e95b4bc5d7e1b1b3c9ed4d1594d3e9dc47f635b9d7e08f42da");
}

TEST(EntryFormat, MatchesTheGoldenFile) {
  EXPECT_EQ(encode_entry(kGolden), golden_file());
  EXPECT_EQ(decode_entry(golden_file()), kGolden);
}

TEST(EntryFormat, ReadsBackWhatItWrote) {
  const Entry entries[] = {
      {"", ""},
      {"payload", ""},
      {"", "{}"},
      {std::string("\0\xff\0", 3), "{\"a\":1}"},
      {std::string(100000, 'x'), std::string(5000, 'y')},
      {encode_entry(kGolden), "an entry inside an entry"},
  };
  for (const Entry& entry : entries) {
    SCOPED_TRACE(entry.metadata.substr(0, 32));
    EXPECT_EQ(decode_entry(encode_entry(entry)), entry);
  }
}

TEST(EntryFormat, StartsWithThePayload) {
  EXPECT_TRUE(encode_entry(kGolden).starts_with(kGolden.payload));
}

TEST(EntryFormat, RefusesEveryTruncation) {
  const std::string file = golden_file();
  for (std::size_t size = 0; size < file.size(); ++size) {
    EXPECT_FALSE(decode_entry(file.substr(0, size))) << "first " << size << " bytes";
    EXPECT_FALSE(decode_entry(file.substr(file.size() - size))) << "last " << size << " bytes";
  }
}

TEST(EntryFormat, RefusesEveryFlippedBit) {
  for (std::size_t bit = 0; bit < 8 * golden_file().size(); ++bit) {
    std::string file = golden_file();
    file[bit / 8] = static_cast<char>(file[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(decode_entry(file)) << "bit " << bit;
  }
}

struct ForgedCase {
  const char* name;
  const char* version_and_flags;
  const char* lengths;
};

// The digest of these is right: only the fields before it are wrong.
TEST(EntryFormat, RefusesForgedTrailers) {
  const ForgedCase cases[] = {
      {"a later version", "0200000000000000", "0c000000000000001000000000000000"},
      {"version 0", "0000000000000000", "0c000000000000001000000000000000"},
      {"an unknown flag", "0100000001000000", "0c000000000000001000000000000000"},
      {"a body longer than told", "0100000000000000", "0c000000000000000f00000000000000"},
      {"a body shorter than told", "0100000000000000", "0c000000000000001100000000000000"},
      {"a payload beyond the file", "0100000000000000", "ffffffffffffffff1000000000000000"},
      {"lengths whose sum overflows", "0100000000000000", "1d00000000000000ffffffffffffffff"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const std::string body = golden_file().substr(0, 28 + 8);
    const std::string told = body + from_hex(c.version_and_flags) + from_hex(c.lengths);
    EXPECT_FALSE(decode_entry(told + from_hex(sha256_hex(told))));
  }
}

}  // namespace
}  // namespace tilejit::cache
