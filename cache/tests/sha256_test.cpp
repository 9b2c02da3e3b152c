#include <gtest/gtest.h>

#include <string>

#include "tilejit/cache/store.hpp"

namespace tilejit::cache {
namespace {

struct Sha256Case {
  const char* name;
  std::string text;
  const char* want;
};

// FIPS 180-4 examples and the million 'a' of FIPS 180-2.
TEST(Sha256, MatchesPublishedVectors) {
  const Sha256Case cases[] = {
      {"empty", "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
      {"one block", "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
      {"two blocks", "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
       "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
      {"a million a", std::string(1000000, 'a'),
       "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(sha256_hex(c.text), c.want);
  }
}

}  // namespace
}  // namespace tilejit::cache
