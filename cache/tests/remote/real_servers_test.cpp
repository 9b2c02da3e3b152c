// nginx with the configuration of the documentation, and OpenStack Swift as an S3 store.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "remote_fixture.hpp"

namespace tilejit::cache {
namespace {

// What every server must do. Leaves entry 1 behind.
void expect_store_works(const RemoteOptions& options) {
  RemoteStore store(options);
  EXPECT_EQ(store.get(test_key(1)).status, RemoteStatus::miss);
  EXPECT_EQ(store.head(test_key(1)).status, RemoteStatus::miss);
  for (int i = 1; i <= 3; ++i) store.put(test_key(i), entry_file(i));
  store.put(test_key(1), entry_file(1));  // again: it replaces
  ASSERT_TRUE(store.wait_for_uploads(milliseconds(20000)));
  EXPECT_EQ(store.counters().uploads, 4u);
  for (int i = 1; i <= 3; ++i) {
    EXPECT_EQ(store.get(test_key(i)).bytes, entry_file(i));
    EXPECT_EQ(store.head(test_key(i)).length, entry_file(i).size());
  }
  EXPECT_EQ(store.counters().unavailable, 0u);
}

RemoteOptions patient_options(const std::string& url, Warnings& warnings) {
  RemoteOptions options = test_options(url, warnings);
  options.timeout = milliseconds(10000);
  options.upload_timeout = milliseconds(10000);
  return options;
}

std::string nginx_program() {
  for (const char* path : {TILEJIT_SOURCE_DIR "/.deps/nginx/usr/sbin/nginx", "/usr/sbin/nginx"}) {
    if (::access(path, X_OK) == 0) return path;
  }
  return {};
}

class Nginx : public testing::Test {
 protected:
  void start(const std::vector<std::string>& wanted = {}) {
    if (nginx_program().empty()) GTEST_SKIP() << "nginx is not installed: run ./tools/setup";
    std::vector<std::string> arguments = {
        nginx_program(), TILEJIT_SOURCE_DIR "/docs/remote-cache.nginx.conf", folder.path()};
    arguments.insert(arguments.end(), wanted.begin(), wanted.end());
    server.emplace("nginx_server.py", arguments);
    ASSERT_NE(server->port(), 0) << read_file(folder.path() / "error.log");
  }
  [[nodiscard]] RemoteOptions options_of(const std::string& user = "") {
    return patient_options("http://" + user + server->url().substr(7), warnings);
  }

  TempFolder folder;
  std::optional<TestServer> server;
  Warnings warnings;
};

TEST_F(Nginx, KeepsEntries) {
  start();
  if (IsSkipped()) return;
  expect_store_works(options_of());
  EXPECT_EQ(warnings.joined(), "");
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "entries/v1/1a" / (test_key(1) + ".cubin")));
}

TEST_F(Nginx, TakesNothingButEntries) {
  start();
  if (IsSkipped()) return;
  RemoteOptions elsewhere = options_of();
  elsewhere.url += "/elsewhere";
  RemoteStore store(elsewhere);
  store.put(test_key(1), entry_file(1));
  ASSERT_TRUE(store.wait_for_uploads(milliseconds(10000)));
  EXPECT_EQ(store.counters().uploads_failed, 1u);
  EXPECT_TRUE(files_below(folder.path() / "entries").empty());
}

// A cache's own folder, served unchanged, works as a remote.
TEST_F(Nginx, ServesTheFolderOfAStore) {
  start();
  if (IsSkipped()) return;
  const Entry entry{.payload = "payload", .metadata = "{}"};
  Store({.folder = folder.path() / "entries"}).put(test_key(7), entry);
  EXPECT_EQ(RemoteStore(options_of()).get(test_key(7)).bytes, encode_entry(entry));
}

TEST_F(Nginx, DetectsDamage) {
  start();
  if (IsSkipped()) return;
  std::string damaged = entry_file(1);
  damaged[damaged.size() / 2] ^= 1;
  write_file(folder.path() / "entries/v1/1a" / (test_key(1) + ".cubin"), damaged);
  RemoteStore store(options_of());
  EXPECT_EQ(store.get(test_key(1)).status, RemoteStatus::unavailable);
  EXPECT_EQ(store.counters().damaged, 1u);
}

TEST_F(Nginx, AsksForAPasswordWhereItShould) {
  start({"password"});
  if (IsSkipped()) return;
  expect_store_works(options_of("writer:s3cret%2Fword@"));
  RemoteStore stranger(options_of("writer:wrong@"));
  EXPECT_EQ(stranger.get(test_key(1)).bytes, entry_file(1));
  stranger.put(test_key(9), entry_file(9));
  ASSERT_TRUE(stranger.wait_for_uploads(milliseconds(10000)));
  EXPECT_EQ(stranger.counters().uploads_failed, 1u);
  EXPECT_EQ(stranger.get(test_key(9)).status, RemoteStatus::miss);
  EXPECT_NE(warnings.joined().find("status 401"), std::string::npos) << warnings.joined();
}

TEST_F(Nginx, IsTrustedByItsCertificateOnly) {
  if (std::system("openssl version >/dev/null 2>&1") != 0) {
    GTEST_SKIP() << "the command openssl is not installed: run ./tools/setup";
  }
  start({"tls"});
  if (IsSkipped()) return;
  const std::string port = std::to_string(server->port());
  RemoteOptions options = patient_options("https://localhost:" + port + "/", warnings);
  options.ca_file = folder.path() / "ca.pem";
  expect_store_works(options);
  EXPECT_EQ(warnings.joined(), "");

  RemoteOptions other_name = options;
  other_name.url = "https://127.0.0.1:" + port + "/";
  RemoteOptions unknown_authority = options;
  unknown_authority.ca_file.clear();
  RemoteOptions missing_file = options;
  missing_file.ca_file = folder.path() / "missing.pem";
  for (RemoteOptions* given : {&other_name, &unknown_authority, &missing_file}) {
    Warnings own;
    given->warn = [&own](const std::string& text) { own.add(text); };
    RemoteStore store(*given);
    EXPECT_EQ(store.get(test_key(1)).status, RemoteStatus::unavailable);
    (void)store.get(test_key(1));
    EXPECT_EQ(store.counters().requests, 1u);
    EXPECT_NE(own.joined().find("cannot be reached ("), std::string::npos) << own.joined();
  }
}

constexpr const char* kSecret = "s3cret/with+signs=";
constexpr const char* kBucket = "kernels";

class S3 : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system(TILEJIT_TEST_PYTHON " -c 'import swift' 2>/dev/null") != 0) {
      GTEST_SKIP() << "python3-swift is not installed: run ./tools/setup";
    }
    server.emplace("s3_server.py",
                   std::vector<std::string>{kSecret, kBucket, folder.path().string()});
    ASSERT_NE(server->port(), 0) << "s3_server.py does not start";
  }
  [[nodiscard]] RemoteOptions options_of(const std::string& path = "") {
    RemoteOptions options = patient_options(std::string("s3://") + kBucket + path, warnings);
    options.s3 = {.endpoint = server->url(),
                  .region = "eu-test-1",
                  .access_key = "test:tester",
                  .secret_key = kSecret,
                  .session_token = {}};
    return options;
  }

  TempFolder folder;
  std::optional<TestServer> server;
  Warnings warnings;
};

TEST_F(S3, KeepsEntries) {
  expect_store_works(options_of());
  RemoteOptions prefixed = options_of("/team+1=a,b/(x)/");  // percent-encoded, and signed that way
  prefixed.s3.session_token = "a/token+of=some";
  expect_store_works(prefixed);
  EXPECT_EQ(warnings.joined(), "");
}

TEST_F(S3, RefusesWhatIsNotSignedWell) {
  expect_store_works(options_of());
  RemoteOptions wrong_secret = options_of();
  wrong_secret.s3.secret_key = "another-secret";
  RemoteOptions wrong_user = options_of();
  wrong_user.s3.access_key = "test:nobody";
  RemoteOptions wrong_region = options_of();
  wrong_region.s3.region = "eu-test-2";
  RemoteOptions wrong_bucket = options_of();
  wrong_bucket.url = "s3://no-such-bucket";
  const std::pair<const RemoteOptions*, const char*> refusals[] = {
      {&wrong_secret, "SignatureDoesNotMatch; check AWS_ACCESS_KEY_ID"},
      {&wrong_user, "SignatureDoesNotMatch; check AWS_ACCESS_KEY_ID"},
      {&wrong_region, "AuthorizationHeaderMalformed; set AWS_REGION"},
      {&wrong_bucket, "NoSuchBucket; make the bucket"}};
  for (const auto& [given, message] : refusals) {
    SCOPED_TRACE(message);
    Warnings own;
    RemoteOptions told = *given;
    told.warn = [&own](const std::string& text) { own.add(text); };
    RemoteStore store(told);
    EXPECT_EQ(store.get(test_key(1)).status, RemoteStatus::unavailable);
    (void)store.get(test_key(1));
    EXPECT_EQ(store.counters().requests, 1u);  // it was refused, and would be refused again
    EXPECT_NE(own.joined().find(message), std::string::npos) << own.joined();
    EXPECT_EQ(own.joined().find(told.s3.secret_key), std::string::npos) << own.joined();
  }
  EXPECT_EQ(RemoteStore(options_of()).get(test_key(1)).bytes, entry_file(1));
}

}  // namespace
}  // namespace tilejit::cache
