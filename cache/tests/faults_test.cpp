#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "process.hpp"
#include "temp_folder.hpp"
#include "tilejit/cache/folder.hpp"
#include "tilejit/cache/store.hpp"

namespace tilejit::cache {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr int kKeys = 20;

// The key determines the right bytes; versions differ in length.
Entry entry_of(int key, unsigned version) {
  return {std::string(1000 + 4000 * (version % 5), static_cast<char>('a' + key)),
          "{\"key\":" + std::to_string(key) + "}"};
}

bool is_right(int key, const Entry& entry) {
  return entry.metadata == entry_of(key, 0).metadata &&
         entry.payload.find_first_not_of(static_cast<char>('a' + key)) == std::string::npos &&
         entry.payload.size() % 4000 == 1000;
}

void write_for_ever(const fs::path& folder, unsigned seed) {
  std::mt19937 random(seed);
  Store store({.folder = folder, .memory_bytes = 0});
  for (;;) {
    const int key = static_cast<int>(random() % kKeys);
    store.put(test_key(key), entry_of(key, static_cast<unsigned>(random())));
  }
}

// Returns when `stop` exists; every answer must be right.
void read_until(const fs::path& folder, const fs::path& stop) {
  Store store({.folder = folder, .memory_bytes = 0});
  std::uint64_t hits = 0;
  while (!fs::exists(stop)) {
    for (int key = 0; key < kKeys; ++key) {
      const auto answer = store.find(test_key(key));
      if (!answer) continue;
      ++hits;
      ASSERT_TRUE(is_right(key, *answer->entry)) << key;
    }
  }
  EXPECT_GT(hits, 0u);
  EXPECT_EQ(store.counters().disk.damaged + store.counters().disk.failures, 0u);
}

// TILEJIT_KILLS sets how many writers are killed; 1000 takes about 20 s.
int kills() {
  const char* text = std::getenv("TILEJIT_KILLS");
  return text != nullptr ? std::atoi(text) : 60;
}

TEST(Faults, KilledWritersNeverShowAReaderAWrongByte) {
  const TempFolder temp;
  const fs::path folder = temp.path() / "cache", stop = temp.path() / "stop";
  const pid_t readers[] = {start_process([&] { read_until(folder, stop); }),
                           start_process([&] { read_until(folder, stop); })};
  std::mt19937 random(1);
  for (int i = 0; i < kills(); ++i) {
    const pid_t writer = start_process([&] { write_for_ever(folder, static_cast<unsigned>(i)); });
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 25000));
    kill_process(writer);
  }
  in_child([&] {  // gives the readers something to read first
    Store store({.folder = folder});
    for (int key = 0; key < kKeys; ++key) store.put(test_key(key), entry_of(key, 0));
  });
  std::this_thread::sleep_for(50ms);
  write_file(stop, "");
  for (const pid_t reader : readers) expect_success(reader);

  const Folder left(folder);
  EXPECT_EQ(left.verify().good, static_cast<std::uint64_t>(kKeys));
  for (const std::string& name : files_below(folder)) {
    if (!name.ends_with(".tmp")) continue;
    fs::last_write_time(folder / name, fs::file_time_type::clock::now() - 2h);
  }
  (void)left.prune({});
  EXPECT_EQ(files_below(folder / "v1").size(), static_cast<std::size_t>(kKeys));
}

// The whole path: file, trailer, store.
TEST(Faults, AFlippedBitAtAnyPlaceOfAFileIsAMiss) {
  const TempFolder temp;
  const Entry entry{"payload", R"({"n":1})"};
  Store store({.folder = temp.path(), .memory_bytes = 0});
  store.put(test_key(1), entry);
  const fs::path path = store.path_of(test_key(1));
  const std::string good = read_file(path);
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bytes = good;
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << (at % 8)));
    write_file(path, bytes);
    EXPECT_FALSE(store.find(test_key(1))) << at;
  }
  for (std::size_t size = 0; size < good.size(); ++size) {
    write_file(path, good.substr(0, size));
    EXPECT_FALSE(store.find(test_key(1))) << size;
  }
  EXPECT_EQ(store.find_or_make(test_key(1), [&] { return entry; }).tier, Tier::made);
  EXPECT_EQ(read_file(path), good);
}

// A reader that cannot read must not spoil the store for those who can.
TEST(Faults, ATransientErrorDeletesNothing) {
  const TempFolder temp;
  Store owner({.folder = temp.path(), .memory_bytes = 0});
  owner.put(test_key(1), {"payload", "{}"});
  fs::permissions(temp.path(), fs::perms(0755));
  fs::permissions(owner.path_of(test_key(1)), fs::perms::none);
  in_child([&] {
    drop_root();
    Store store({.folder = temp.path(), .memory_bytes = 0});
    EXPECT_FALSE(store.find(test_key(1)));
  });
  EXPECT_TRUE(fs::exists(owner.path_of(test_key(1))));
  in_child([&] {
    drop_root();
    Store store({.folder = temp.path(), .memory_bytes = 0});
    // A process that may write to the folder replaces the entry with the one it made.
    const auto make = [] { return Entry{"payload", "{}"}; };
    EXPECT_EQ(store.find_or_make(test_key(1), make).tier, Tier::made);
    EXPECT_GE(store.counters().disk.failures, 1u);
  });
  fs::permissions(owner.path_of(test_key(1)), fs::perms(0600));
  EXPECT_EQ(owner.find(test_key(1))->entry->payload, "payload");
}

TEST(Faults, EightThreadsDoEverythingAtOnce) {
  const TempFolder temp;
  const fs::path bundle = temp.path() / "bundle";
  {
    BundleWriter writer(bundle);
    for (int key = 0; key < kKeys; key += 4) writer.add(test_key(key), entry_of(key, 1));
    writer.finish();
  }
  Store store({.folder = temp.path() / "cache",
               .read_only = {bundle},
               .memory_bytes = 30000,
               .bounds = {.bytes = 100000}});
  std::atomic<int> wrong = 0;
  std::vector<std::jthread> threads;
  for (unsigned thread = 0; thread < 8; ++thread) {
    threads.emplace_back([&, thread] {
      std::mt19937 random(thread);
      for (int i = 0; i < 120; ++i) {
        const int key = static_cast<int>(random() % kKeys);
        const unsigned version = static_cast<unsigned>(random());
        EntryPtr entry;
        switch (random() % 5) {
          case 0: store.put(test_key(key), entry_of(key, version)); break;
          case 1: store.add_marker("compilers", std::to_string(version % 3)); break;
          case 2: (void)store.markers("compilers"); break;
          case 3: (void)store.counters(); break;
          default:
            entry = store.find_or_make(test_key(key), [&] { return entry_of(key, version); }).entry;
        }
        if (entry && !is_right(key, *entry)) ++wrong;
        if (const auto found = store.find(test_key(key)); found && !is_right(key, *found->entry)) {
          ++wrong;
        }
      }
    });
  }
  threads.clear();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(store.counters().disk.damaged, 0u);
}

}  // namespace
}  // namespace tilejit::cache
