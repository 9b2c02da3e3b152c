#include "tilejit/cache/files.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "process.hpp"
#include "temp_folder.hpp"
#include "tilejit/cache/publish.hpp"
#include "tilejit/cache/store.hpp"

namespace tilejit::cache {
namespace {

namespace fs = std::filesystem;
using Outcome = FileText::Outcome;

class FilesTest : public ::testing::Test {
 protected:
  [[nodiscard]] fs::path path() const { return temp.path() / "file"; }
  TempFolder temp;
};

TEST_F(FilesTest, AreReadWholeUpToABound) {
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, std::size_t{1} << 16, std::size_t{200000}}) {
    write_file(path(), std::string(size, 'x'));
    EXPECT_EQ(read_file(path(), FileRules{}).bytes, std::string(size, 'x'));
    EXPECT_EQ(read_file(path(), {.most_bytes = size}).outcome, Outcome::read);
    if (size == 0) continue;
    const FileText larger = read_file(path(), {.most_bytes = size - 1});
    EXPECT_EQ(larger.outcome, Outcome::too_large);
    EXPECT_EQ(larger.bytes, "");
  }
}

// A FIFO without a writer blocked whoever opened it.
TEST_F(FilesTest, OnlyRegularOnesAreReadUnlessAskedFor) {
  ASSERT_EQ(::mkfifo(path().c_str(), 0600), 0);
  EXPECT_EQ(read_file(path(), FileRules{}).outcome, Outcome::not_regular);
  EXPECT_EQ(read_file("/dev/zero", FileRules{}).outcome, Outcome::not_regular);
  EXPECT_EQ(read_file(temp.path(), FileRules{}).outcome, Outcome::folder);
  EXPECT_EQ(read_file(path().string() + "none", FileRules{}).outcome, Outcome::missing);
  EXPECT_EQ(read_file("/dev/null", {.kind = FileKind::any}).outcome, Outcome::read);
  EXPECT_EQ(read_file("/dev/zero", {.most_bytes = 1000, .kind = FileKind::any}).outcome,
            Outcome::too_large);
}

TEST_F(FilesTest, AreRefusedWhereOthersMayWrite) {
  const struct {
    mode_t folder, file;
    Outcome expected;
  } cases[] = {
      {0700, 0600, Outcome::read},     {0755, 0644, Outcome::read},
      {0777, 0644, Outcome::refused},  {0775, 0644, Outcome::refused},
      {0700, 0666, Outcome::refused},  {0700, 0660, Outcome::refused},
      {01777, 0644, Outcome::read},  // sticky like /tmp: only owners replace files there
      {01777, 0666, Outcome::refused},
  };
  write_file(path(), "text");
  for (const auto& c : cases) {
    SCOPED_TRACE(testing::Message() << std::oct << c.folder << ' ' << c.file);
    ASSERT_EQ(::chmod(temp.path().c_str(), c.folder), 0);
    ASSERT_EQ(::chmod(path().c_str(), c.file), 0);
    EXPECT_EQ(read_file(path(), {.trust = Trust::own}).outcome, c.expected);
    EXPECT_EQ(read_file(path(), {.trust = Trust::anyone}).outcome, Outcome::read);
  }
}

TEST_F(FilesTest, OfAnotherUserAreRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  write_file(path(), "text");
  ASSERT_EQ(::chown(path().c_str(), 12345, 12345), 0);
  EXPECT_EQ(read_file(path(), {.trust = Trust::own}).outcome, Outcome::refused);
}

// If the standard streams were closed, text printed to them ended up in entries.
TEST_F(FilesTest, AreOpenedAboveTheStandardStreams) {
  in_child([&] {
    for (int fd = 0; fd <= 2; ++fd) ::close(fd);
    const int fd = above_stdio(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    EXPECT_GT(fd, 2);
    EXPECT_EQ(::fcntl(fd, F_GETFD), FD_CLOEXEC);
    EXPECT_EQ(::fcntl(0, F_GETFD), -1);
    EXPECT_EQ(above_stdio(-1), -1);
  });
}

TEST_F(FilesTest, AStoreTakesNoStandardStream) {
  in_child([&] {
    for (int fd = 0; fd <= 2; ++fd) ::close(fd);
    Store store({.folder = temp.path() / "cache", .memory_bytes = 0});
    const auto make = [] {
      // A lock is held here; its descriptor must not be one that others print to.
      for (int fd = 0; fd <= 2; ++fd) EXPECT_EQ(::fcntl(fd, F_GETFD), -1) << fd;
      return Entry{"payload", "{}"};
    };
    EXPECT_EQ(store.find_or_make(test_key(1), make).tier, Tier::made);
    EXPECT_EQ(store.find(test_key(1))->tier, Tier::disk);
  });
}

// A temporary file with a guessable name could be a link to somebody's file.
TEST_F(FilesTest, ArePublishedThroughNamesThatNobodyGuesses) {
  const fs::path victim = temp.path() / "victim";
  write_file(victim, "precious");
  fs::create_symlink(victim, path());
  EXPECT_EQ(publish_file(path().string(), "text"), 0);
  EXPECT_EQ(read_file(victim, FileRules{}).bytes, "precious");
  EXPECT_FALSE(fs::is_symlink(path()));
}

}  // namespace
}  // namespace tilejit::cache
