#include "tilejit/cache/bundle.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "process.hpp"
#include "temp_folder.hpp"
#include "tilejit/cache/store.hpp"

namespace tilejit::cache {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Made with "openssl genpkey -algorithm ed25519", for these tests only.
constexpr const char* kPrivate =
    "-----BEGIN PRIVATE KEY-----\n"
    "MC4CAQAwBQYDK2VwBCIEIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f\n"
    "-----END PRIVATE KEY-----\n";
constexpr const char* kPublic =
    "-----BEGIN PUBLIC KEY-----\n"
    "MCowBQYDK2VwAyEAA6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=\n"
    "-----END PUBLIC KEY-----\n";

std::string from_hex(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

class BundleTest : public ::testing::Test {
 protected:
  void write(const std::string& private_key = {}) const {
    BundleWriter writer(path());
    for (const auto& [key, entry] : entries) EXPECT_TRUE(writer.add(key, entry));
    writer.add_marker("compilers", "newest");
    writer.add_marker("compilers", "oldest");
    writer.finish(private_key);
  }
  [[nodiscard]] fs::path path() const { return temp.path() / "kernels.tjb"; }
  [[nodiscard]] fs::path folder() const { return temp.path() / "cache"; }
  void expect_refused(const std::string& reason, const std::optional<PublicKey>& signer = {}) {
    try {
      const Bundle bundle(path(), Trust::own, signer);
      ADD_FAILURE() << "opened; expected: " << reason;
    } catch (const std::runtime_error& error) {
      EXPECT_THAT(error.what(), HasSubstr(reason));
      EXPECT_THAT(error.what(), HasSubstr(path().string()));
    }
  }

  TempFolder temp;
  std::map<std::string, Entry> entries = {{test_key(3), {"three", R"({"n":3})"}},
                                          {test_key(1), {std::string("\0\x7f", 2), "{}"}},
                                          {test_key(2), {"", ""}}};
};

// Assembled here from cache/FORMAT.md: a change here is a change of the format.
TEST_F(BundleTest, MatchesItsDescription) {
  const std::string key(64, '7');
  const std::string entry = encode_entry({"payload", "{}"});
  {
    BundleWriter writer(path());
    writer.add(key, {"payload", "{}"});
    writer.add_marker("kind", "name");
    writer.finish();
  }
  const std::string head = from_hex(
      "746a62756e646c65"
      "01000000"
      "00000000");
  const std::string record = from_hex(key) + entry.substr(entry.size() - 32) +
                             from_hex(
                                 "1000000000000000"
                                 "4900000000000000");
  const std::string index = record + from_hex(sha256_hex(record)).substr(0, 8) + "kind/name\n";
  const std::string trailer = head + from_hex(
                                         "0100000000000000"
                                         "5900000000000000"
                                         "0a00000000000000");
  EXPECT_EQ(read_file(path()), head + entry + index + trailer +
                                   from_hex(sha256_hex(index + trailer)) + std::string(96, '\0') +
                                   "tjbdone\n");
}

TEST_F(BundleTest, ReadsBackWhatItWrote) {
  write();
  const Bundle bundle(path());
  const auto listed = bundle.list();
  ASSERT_EQ(listed.size(), 3u);
  auto expected = entries.begin();
  for (const EntryInfo& info : listed) {
    EXPECT_EQ(info.key, expected->first);
    EXPECT_EQ(info.bytes, encode_entry(expected->second).size());
    EXPECT_EQ(bundle.read(info.key), expected->second);
    EXPECT_EQ(bundle.metadata(info.key), expected->second.metadata);
    ++expected;
  }
  EXPECT_FALSE(bundle.read(test_key(4)));
  EXPECT_FALSE(bundle.metadata(test_key(4)));
  EXPECT_THAT(bundle.markers("compilers"), ElementsAre("newest", "oldest"));
  EXPECT_THAT(bundle.markers("compiler"), IsEmpty());
  EXPECT_EQ(bundle.verify().good, 3u);
  EXPECT_THAT(bundle.verify().damaged, IsEmpty());
  EXPECT_FALSE(bundle.signer());
}

TEST_F(BundleTest, FindsEachOfMany) {
  {
    BundleWriter writer(path());
    for (int i = 0; i < 1000; ++i)
      writer.add(sha256_hex(std::to_string(i)), {std::to_string(i), ""});
    EXPECT_FALSE(writer.add(sha256_hex("7"), {"again", ""}));
    writer.finish();
  }
  const Bundle bundle(path());
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(bundle.read(sha256_hex(std::to_string(i)))->payload, std::to_string(i));
    EXPECT_FALSE(bundle.read(sha256_hex("not " + std::to_string(i))));
  }
  EXPECT_EQ(bundle.verify().good, 1000u);
}

TEST_F(BundleTest, MayBeEmpty) {
  entries.clear();
  write();
  EXPECT_THAT(Bundle(path()).list(), IsEmpty());
  EXPECT_THAT(Bundle(path()).verify().damaged, IsEmpty());
}

TEST_F(BundleTest, AppearsWholeOrNever) {
  {
    BundleWriter writer(path());
    writer.add(test_key(1), {"payload", "{}"});
    EXPECT_FALSE(fs::exists(path()));
  }
  EXPECT_THAT(files_below(temp.path()), IsEmpty());
}

// True if every answer of the file is right, or if it answers nothing.
bool never_serves_a_wrong_byte(const fs::path& path, const std::map<std::string, Entry>& entries) {
  try {
    const Bundle bundle(path);
    for (const auto& [key, entry] : entries) {
      const auto read = bundle.read(key);
      if (read && *read != entry) return false;
    }
    return !bundle.verify().damaged.empty();  // and reading the whole file reports damage
  } catch (const std::runtime_error&) {
    return true;
  }
}

// In place: rewriting the file each time would take seconds.
void write_byte(const fs::path& path, std::size_t at, char byte) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(at)).put(byte);
}

TEST_F(BundleTest, AFlippedBitAnywhereIsDetected) {
  for (const char* key : {"", kPrivate}) {
    write(key);
    const std::string good = read_file(path());
    for (std::size_t at = 0; at < good.size(); ++at) {
      for (int bit = 0; bit < 8; ++bit) {  // one of them turns key 2 into key 3
        write_byte(path(), at, static_cast<char>(good[at] ^ (1 << bit)));
        ASSERT_TRUE(never_serves_a_wrong_byte(path(), entries)) << "bit " << bit << " of " << at;
      }
      write_byte(path(), at, good[at]);
    }
  }
}

TEST_F(BundleTest, EveryTruncationIsRefused) {
  write();
  const std::string good = read_file(path());
  for (std::size_t size = 0; size < good.size(); ++size) {
    write_file(path(), good.substr(0, size));
    EXPECT_THROW(Bundle{path()}, std::runtime_error) << size;
    write_file(path(), good.substr(good.size() - size));
    EXPECT_THROW(Bundle{path()}, std::runtime_error) << size;
  }
}

TEST_F(BundleTest, SignedOnesNameTheirSigner) {
  write(kPrivate);
  const PublicKey key = parse_public_key(kPublic);
  const Bundle bundle(path(), Trust::own, key);
  EXPECT_EQ(bundle.signer(), key);
  EXPECT_EQ(to_string(key), "03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8");
  EXPECT_THAT(bundle.verify().damaged, IsEmpty());
  PublicKey other = key;
  other[0] ^= 1;
  expect_refused("its signature is not of the key 02a107bf", other);
  write();
  expect_refused("it is not signed", key);
}

// All checksums are right: only the signature gives it away.
TEST_F(BundleTest, ForgedContentsAreRefused) {
  write(kPrivate);
  const std::string signature = read_file(path()).substr(fs::file_size(path()) - 104);
  entries[test_key(3)].payload = "THREE";
  write(kPrivate);
  std::string forged = read_file(path());
  forged.replace(forged.size() - 104, 104, signature);
  write_file(path(), forged);
  expect_refused("its signature is not of the key", parse_public_key(kPublic));
  EXPECT_THAT(Bundle(path()).verify().damaged, ElementsAre(path().string()));
}

// The signature covers the index, and the index covers the entries: a sound entry in the place of
// another is not the signer's.
TEST_F(BundleTest, ForgedEntriesOfSignedOnesAreRefused) {
  write(kPrivate);
  std::string bytes = read_file(path());
  const std::string good = encode_entry(entries[test_key(3)]);
  const std::size_t at = bytes.find(good);
  ASSERT_NE(at, std::string::npos);
  bytes.replace(at, good.size(), encode_entry({"THREE", entries[test_key(3)].metadata}));
  write_file(path(), bytes);
  const Bundle bundle(path(), Trust::own, parse_public_key(kPublic));
  EXPECT_FALSE(bundle.read(test_key(3)));
  EXPECT_TRUE(bundle.read(test_key(1)));
  EXPECT_THAT(bundle.verify().damaged, ElementsAre(test_key(3)));
  EXPECT_THROW((void)import_bundle(bundle, folder()), std::runtime_error);
}

TEST_F(BundleTest, BadKeysAreRefused) {
  EXPECT_THROW((void)parse_public_key(""), std::invalid_argument);
  EXPECT_THROW((void)parse_public_key(kPrivate), std::invalid_argument);
  EXPECT_THROW(write("no key"), std::invalid_argument);
  EXPECT_THROW(write(kPublic), std::invalid_argument);
  EXPECT_THAT(files_below(temp.path()), IsEmpty());
}

TEST_F(BundleTest, WhatIsNoBundleIsRefused) {
  expect_refused("No such file");
  write_file(path(), "");
  expect_refused("it is not a bundle");
  write_file(path(), std::string(1000, 'x'));
  expect_refused("it is not a bundle");
  write();
  ASSERT_EQ(::chmod(path().c_str(), 0666), 0);
  expect_refused("others may write to it");
  EXPECT_EQ(Bundle(path(), Trust::anyone).list().size(), 3u);
  fs::remove(path());
  fs::create_directory(path());
  expect_refused("no regular file");
}

// An import made one file for each of a million markers, which took 20 s.
TEST_F(BundleTest, MarkersAreBounded) {
  write();
  std::string bytes = read_file(path());
  {
    BundleWriter writer(path());
    const auto add = [&] {
      for (int i = 0; i < 70000; ++i) writer.add_marker("k", std::to_string(i));
    };
    EXPECT_THROW(add(), std::runtime_error);
  }
  EXPECT_EQ(read_file(path()), bytes);
  const std::size_t length_at = bytes.size() - 176 + 32;
  std::string markers;
  for (int i = 0; i < 70000; ++i) markers += "k/m\n";
  const auto had = static_cast<unsigned char>(bytes[length_at]);
  const std::size_t length = had + markers.size();
  for (int i = 0; i < 4; ++i) bytes[length_at + i] = static_cast<char>(length >> (8 * i));
  bytes.insert(bytes.size() - 176, markers);
  write_file(path(), bytes);
  expect_refused("more than 64 KiB of markers");
}

TEST_F(BundleTest, ServesAsATier) {
  write(kPrivate);
  Store store(
      {.folder = folder(), .read_only = {path()}, .bundle_signer = parse_public_key(kPublic)});
  const Answer answer = store.find_or_make(
      test_key(3), []() -> Entry { throw std::logic_error("made what the bundle has"); });
  EXPECT_EQ(answer.tier, Tier::read_only);
  EXPECT_EQ(*answer.entry, entries[test_key(3)]);
  EXPECT_THAT(store.markers("compilers"), ElementsAre("newest", "oldest"));
  EXPECT_EQ(store.find_or_make(test_key(5), [] { return Entry{}; }).tier, Tier::made);
  EXPECT_EQ(store.counters().read_only.hits, 1u);
  EXPECT_EQ(store.counters().read_only.misses, 1u);
}

TEST_F(BundleTest, ATierThatCannotBeUsedIsGoneWithout) {
  write();
  std::vector<std::string> warnings;
  Store store({.read_only = {path()},
               .bundle_signer = parse_public_key(kPublic),
               .warn = [&](const std::string& text) { warnings.push_back(text); }});
  EXPECT_FALSE(store.find(test_key(3)));
  EXPECT_FALSE(store.find(test_key(3)));
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("it is not signed")));
  EXPECT_EQ(store.counters().read_only.failures, 2u);
}

// A mapped file that was truncated ended the process with SIGBUS.
TEST_F(BundleTest, CutShortUnderARunningProcess) {
  entries[test_key(3)].payload.assign(50000, 'x');
  write();
  std::vector<std::string> warnings;
  Store store({.read_only = {path()}, .memory_bytes = 0, .warn = [&](const std::string& text) {
                 warnings.push_back(text);
               }});
  EXPECT_TRUE(store.find(test_key(3)));
  fs::resize_file(path(), 20);
  EXPECT_FALSE(store.find(test_key(3)));
  EXPECT_FALSE(store.find(test_key(1)));
  EXPECT_EQ(store.counters().read_only.failures, 2u);
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("was cut short")));
}

TEST_F(BundleTest, ReplacedByARenameUnderARunningProcess) {
  write();
  Store store({.read_only = {path()}, .memory_bytes = 0});
  EXPECT_TRUE(store.find(test_key(3)));
  entries[test_key(3)].payload = "newer";
  write();
  EXPECT_EQ(store.find(test_key(3))->entry->payload, "three");
  EXPECT_EQ(Store(Options{.read_only = {path()}}).find(test_key(3))->entry->payload, "newer");
}

TEST_F(BundleTest, IsImportedWhole) {
  write();
  Store(Options{.folder = folder()}).put(test_key(3), entries[test_key(3)]);
  const ImportReport report = import_bundle(Bundle(path()), folder());
  EXPECT_EQ(report.added, 2u);
  EXPECT_EQ(report.present, 1u);
  EXPECT_EQ(report.added_bytes, encode_entry(entries[test_key(1)]).size() + 64);
  Store store({.folder = folder()});
  for (const auto& [key, entry] : entries) EXPECT_EQ(*store.find(key)->entry, entry);
  EXPECT_THAT(store.markers("compilers"), ElementsAre("newest", "oldest"));
  EXPECT_EQ(files_below(folder()).size(), 5u);  // three entries, two markers
  EXPECT_EQ(import_bundle(Bundle(path()), folder()).added, 0u);
}

TEST_F(BundleTest, DamageImportsNothing) {
  write();
  std::string bytes = read_file(path());
  bytes[20] = static_cast<char>(bytes[20] ^ 1);
  write_file(path(), bytes);
  EXPECT_THROW((void)import_bundle(Bundle(path()), folder()), std::runtime_error);
  EXPECT_FALSE(fs::exists(folder()));
}

TEST_F(BundleTest, DamagedEntriesOfTheFolderAreReplaced) {
  write();
  write_file(Store(Options{.folder = folder()}).path_of(test_key(3)), "not an entry");
  for (const auto& part : {folder(), folder() / "v1", folder() / "v1/3a"}) {
    fs::permissions(part, fs::perms::owner_all);
  }
  EXPECT_EQ(import_bundle(Bundle(path()), folder()).added, 3u);
  EXPECT_TRUE(Store(Options{.folder = folder()}).find(test_key(3)));
}

TEST_F(BundleTest, FullDiskImportsNothing) {
  entries[test_key(9)].payload.assign(100000, 'x');  // the last one does not fit
  write();
  in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{50000, 50000};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
    EXPECT_THROW((void)import_bundle(Bundle(path()), folder()), std::runtime_error);
  });
  EXPECT_THAT(files_below(folder()), IsEmpty());
}

TEST_F(BundleTest, FullDiskWritesNoBundle) {
  entries[test_key(9)].payload.assign(100000, 'x');
  in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{50000, 50000};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
    EXPECT_THROW(write(), std::runtime_error);
  });
  EXPECT_THAT(files_below(temp.path()), IsEmpty());
}

}  // namespace
}  // namespace tilejit::cache
