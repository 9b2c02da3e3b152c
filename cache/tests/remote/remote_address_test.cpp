#include "remote/remote_address.hpp"

#include <gtest/gtest.h>

#include <map>
#include <stdexcept>
#include <string>

#include "temp_folder.hpp"

namespace tilejit::cache {
namespace {

RemoteAddress address_of(const std::string& url, const S3Options& s3 = {}) {
  RemoteOptions options;
  options.url = url;
  options.s3 = s3;
  return remote_address_of(options);
}

struct AddressCase {
  const char* url;
  const char* origin;
  const char* path;  // of the key below
};

const std::string kKey = test_key(12);
const std::string kTail = kKey + ".cubin";

TEST(RemoteAddress, PlacesKeysInFolders) {
  const AddressCase cases[] = {
      {"http://host", "http://host", "/v1/12/"},
      {"http://host/", "http://host", "/v1/12/"},
      {"HTTP://Host:80/a/b/", "http://host", "/a/b/v1/12/"},
      {"https://host:443", "https://host", "/v1/12/"},
      {"https://host:80", "https://host:80", "/v1/12/"},
      {"https://user:p%40ss@host:8443/x", "https://host:8443", "/x/v1/12/"},
      {"http://[::1]:8080/x", "http://[::1]:8080", "/x/v1/12/"},
      {"s3://kernels", "https://kernels.s3.us-east-1.amazonaws.com", "/v1/12/"},
      {"s3://kernels/team one/", nullptr, nullptr},
      {"s3://kernels/team+one/", "https://kernels.s3.us-east-1.amazonaws.com",
       "/team%2Bone/v1/12/"},
      {"s3://dotted.name/p", "https://s3.us-east-1.amazonaws.com", "/dotted.name/p/v1/12/"},
  };
  for (const AddressCase& c : cases) {
    SCOPED_TRACE(c.url);
    if (c.origin == nullptr) {
      EXPECT_THROW((void)address_of(c.url), std::invalid_argument);
      continue;
    }
    EXPECT_EQ(address_of(c.url).origin, c.origin);
    EXPECT_EQ(address_of(c.url).path_of(kKey), c.path + kTail);
  }
}

TEST(RemoteAddress, TakesAPlaceForTheKey) {
  EXPECT_EQ(address_of("http://host/ac/{key}").path_of(kKey), "/ac/" + kKey);
  EXPECT_EQ(address_of("s3://kernels/a/{key}.bin").path_of(kKey), "/a/" + kKey + ".bin");
}

TEST(RemoteAddress, TakesAnEndpointAndARegion) {
  const RemoteAddress local =
      address_of("s3://kernels/p", {.endpoint = "http://127.0.0.1:9000/", .region = "x"});
  EXPECT_EQ(local.origin, "http://127.0.0.1:9000");
  EXPECT_EQ(local.host, "127.0.0.1:9000");
  EXPECT_EQ(local.path_of(kKey), "/kernels/p/v1/12/" + kTail);
  EXPECT_EQ(address_of("s3://kernels", {.region = "eu-west-1"}).host,
            "kernels.s3.eu-west-1.amazonaws.com");
}

TEST(RemoteAddress, KeepsCredentialsOutOfTheName) {
  const RemoteAddress address = address_of("https://us%3Aer:p%40ss@host/x");
  EXPECT_EQ(address.user, "us:er");
  EXPECT_EQ(address.password, "p@ss");
  EXPECT_EQ(address.name, "https://host/x");
}

TEST(RemoteAddress, RefusesWhatItCannotUse) {
  const std::string urls[] = {"",
                              "host",
                              "/cache",
                              "ftp://host/",
                              "http://",
                              "http:///path",
                              "http://:80/",
                              "http://user:s3cret",
                              "http://user:s3cret/",
                              "http://host:80:80/",
                              "http://host:/",
                              "http://host:123456/",
                              "http://[::1/",
                              "http://[::1]8080/",
                              "http://[host]/",
                              "http://[",
                              "http://ho st/",
                              "http://host/a b",
                              "http://host/\n",
                              "http://host/\xc3\xa9",
                              "http://host/?query=s3cret",
                              "http://host/#s3cret",
                              "http://user:s3cret@/",
                              "http://user:s3cret/x@host/",
                              "http://user:123/x@host/",
                              "http://user:s3cret@h%st/",
                              "s3://",
                              "s3://ab",
                              "s3://key:s3cret@bucket/",
                              "s3://..bucket/"};
  for (const std::string& url : urls) {
    SCOPED_TRACE(url);
    try {
      (void)address_of(url);
      ADD_FAILURE() << "accepted";
    } catch (const std::invalid_argument& error) {
      EXPECT_EQ(std::string(error.what()).find("s3cret"), std::string::npos) << error.what();
    }
  }
}

TEST(RemoteAddress, RefusesHalfAnIdentityAndABadEndpoint) {
  EXPECT_THROW((void)address_of("s3://kernels", {.access_key = "id"}), std::invalid_argument);
  EXPECT_THROW((void)address_of("s3://kernels", {.secret_key = "s"}), std::invalid_argument);
  for (const S3Options& broken :
       {S3Options{.access_key = "id", .secret_key = "s3cret\n"},
        S3Options{.access_key = " id", .secret_key = "s3cret"},
        S3Options{.access_key = "id", .secret_key = "s3cret", .session_token = "a\r\nb: c"},
        S3Options{.region = "eu west"}}) {
    try {
      (void)address_of("s3://kernels", broken);
      ADD_FAILURE() << "accepted";
    } catch (const std::invalid_argument& error) {
      EXPECT_EQ(std::string(error.what()).find("s3cret"), std::string::npos);
    }
  }
  for (const char* endpoint : {"host", "ftp://host", "http://host/path", "http://a:b@host"}) {
    EXPECT_THROW((void)address_of("s3://kernels", {.endpoint = endpoint}), std::invalid_argument);
  }
}

TEST(RemoteAddress, ComparesOrigins) {
  EXPECT_EQ(origin_of("HTTP://Host:80/x"), origin_of("http://host"));
  EXPECT_NE(origin_of("http://host:8080/"), origin_of("http://host/"));
  EXPECT_NE(origin_of("https://host/"), origin_of("http://host/"));
  EXPECT_EQ(origin_of("http://host@evil/"), "");
  EXPECT_EQ(origin_of("//host/"), "");
  EXPECT_EQ(origin_of("file:///etc/passwd"), "");
}

RemoteOptions options_with(const std::map<std::string, std::string>& variables) {
  return remote_options_from([&](const char* name) {
    const auto at = variables.find(name);
    return at != variables.end() ? at->second : std::string();
  });
}

TEST(RemoteOptions, AreReadFromTheEnvironment) {
  const RemoteOptions options = options_with({{"TILEJIT_CACHE_REMOTE", "s3://kernels/p"},
                                              {"TILEJIT_CACHE_REMOTE_MODE", "must-hit"},
                                              {"TILEJIT_CACHE_REMOTE_TIMEOUT_MS", "70"},
                                              {"TILEJIT_CACHE_REMOTE_CONNECT_TIMEOUT_MS", "30"},
                                              {"TILEJIT_CACHE_REMOTE_RETRY_AFTER_MS", "0"},
                                              {"TILEJIT_CACHE_REMOTE_MAX_BYTES", "1000"},
                                              {"TILEJIT_CACHE_REMOTE_CA", "/ca.pem"},
                                              {"AWS_ENDPOINT_URL", "http://all"},
                                              {"AWS_ENDPOINT_URL_S3", "http://s3"},
                                              {"AWS_DEFAULT_REGION", "second"},
                                              {"AWS_REGION", "first"},
                                              {"AWS_ACCESS_KEY_ID", "id"},
                                              {"AWS_SECRET_ACCESS_KEY", "secret"},
                                              {"AWS_SESSION_TOKEN", "token"}});
  EXPECT_EQ(options.url, "s3://kernels/p");
  EXPECT_EQ(options.mode, RemoteMode::must_hit);
  EXPECT_EQ(options.timeout.count(), 70);
  EXPECT_EQ(options.connect_timeout.count(), 30);
  EXPECT_EQ(options.retry_after.count(), 0);
  EXPECT_EQ(options.max_bytes, 1000u);
  EXPECT_EQ(options.ca_file, "/ca.pem");
  EXPECT_EQ(options.s3.endpoint, "http://s3");
  EXPECT_EQ(options.s3.region, "first");
  EXPECT_EQ(options.s3.access_key, "id");
  EXPECT_EQ(options.s3.secret_key, "secret");
  EXPECT_EQ(options.s3.session_token, "token");
}

TEST(RemoteOptions, WithoutARemoteReadNothingElse) {
  EXPECT_EQ(options_with({{"TILEJIT_CACHE_REMOTE_MODE", "nonsense"}}).url, "");
  EXPECT_EQ(options_with({{"TILEJIT_CACHE_REMOTE", "off"}}).url, "");
}

TEST(RemoteOptions, RefuseValuesWithoutMeaning) {
  const std::pair<const char*, const char*> cases[] = {
      {"TILEJIT_CACHE_REMOTE_MODE", "readonly"},
      {"TILEJIT_CACHE_REMOTE_TIMEOUT_MS", "5s"},
      {"TILEJIT_CACHE_REMOTE_TIMEOUT_MS", "-1"},
      {"TILEJIT_CACHE_REMOTE_MAX_BYTES", "1e6"},
      {"TILEJIT_CACHE_REMOTE_MAX_BYTES", "99999999999999999999"}};
  for (const auto& [name, value] : cases) {
    SCOPED_TRACE(value);
    try {
      (void)options_with({{"TILEJIT_CACHE_REMOTE", "http://host"}, {name, value}});
      ADD_FAILURE() << "accepted";
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).find(name), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace tilejit::cache
