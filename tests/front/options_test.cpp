#include "tilejit/options.hpp"

#include <cstdlib>
#include <map>
#include <optional>
#include <string>

#include "fake/expect_error.hpp"

namespace tilejit {
namespace {

constexpr const char* kVariables[] = {"TILEJIT_CACHE_DIR",
                                      "XDG_CACHE_HOME",
                                      "HOME",
                                      "TILEJIT_NVRTC",
                                      "TILEJIT_DEVICE",
                                      "TILEJIT_CACHE_PATH",
                                      "TILEJIT_CACHE_COPY_AFTER_MS",
                                      "TILEJIT_CACHE_TRUST_ANYONE",
                                      "TILEJIT_CACHE_MAX_SIZE",
                                      "TILEJIT_CACHE_MAX_AGE",
                                      "TILEJIT_CACHE_BUNDLE_KEY",
                                      "TILEJIT_CACHE_KEEP",
                                      "TILEJIT_LINE_INFO",
                                      "TILEJIT_CACHE_REMOTE",
                                      "TILEJIT_CACHE_REMOTE_MODE",
                                      "TILEJIT_TUNING",
                                      "TILEJIT_COMPILE_EFFORT",
                                      "TILEJIT_DETERMINISTIC",
                                      "TILEJIT_COMPILE_JOBS",
                                      "TILEJIT_COMPILE_THREADS",
                                      "TILEJIT_WORKER",
                                      "TILEJIT_WORKER_TIMEOUT",
                                      "TILEJIT_WORKER_MEMORY"};
using Environment = std::map<std::string, std::string>;

/// Sets these variables of the table and clears the others, until the end of the scope.
class EnvironmentScope {
 public:
  explicit EnvironmentScope(const Environment& environment) {
    for (const char* name : kVariables) {
      if (const char* value = std::getenv(name)) before_[name] = value;
      unsetenv(name);
    }
    for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
  }
  ~EnvironmentScope() {
    for (const char* name : kVariables) unsetenv(name);
    for (const auto& [name, value] : before_) setenv(name.c_str(), value.c_str(), 1);
  }
  EnvironmentScope(const EnvironmentScope&) = delete;
  EnvironmentScope& operator=(const EnvironmentScope&) = delete;

 private:
  Environment before_;
};

struct FolderCase {
  const char* name;
  Environment environment;
  std::optional<std::string> folder;
};
const FolderCase kFolders[] = {
    {"chosen", {{"TILEJIT_CACHE_DIR", "/c"}, {"XDG_CACHE_HOME", "/x"}, {"HOME", "/h"}}, "/c"},
    {"chosen, relative", {{"TILEJIT_CACHE_DIR", "here"}}, "here"},
    {"off", {{"TILEJIT_CACHE_DIR", "off"}, {"HOME", "/h"}}, std::nullopt},
    {"empty is unset", {{"TILEJIT_CACHE_DIR", ""}, {"XDG_CACHE_HOME", "/x"}}, "/x/tilejit"},
    {"XDG", {{"XDG_CACHE_HOME", "/x"}, {"HOME", "/h"}}, "/x/tilejit"},
    {"XDG is ignored when relative",
     {{"XDG_CACHE_HOME", "x"}, {"HOME", "/h"}},
     "/h/.cache/tilejit"},
    {"HOME", {{"HOME", "/h"}}, "/h/.cache/tilejit"},
    {"nothing", {}, std::nullopt},
};

TEST(Options, FindTheTuningFile) {
  const std::pair<Environment, std::optional<std::string>> cases[] = {
      {{{"TILEJIT_TUNING", "/t.jsonl"}, {"HOME", "/h"}}, "/t.jsonl"},
      {{{"TILEJIT_TUNING", "off"}, {"HOME", "/h"}}, std::nullopt},
      {{{"HOME", "/h"}}, "/h/.cache/tilejit/tuning.jsonl"},
      {{{"TILEJIT_CACHE_DIR", "off"}, {"HOME", "/h"}}, std::nullopt},
  };
  for (const auto& [environment, want] : cases) {
    const EnvironmentScope scope(environment);
    const auto file = Options::from_env().tuning_file;
    EXPECT_EQ(file ? std::optional(file->string()) : std::nullopt, want);
  }
}

TEST(Options, FindTheCacheFolder) {
  for (const FolderCase& c : kFolders) {
    SCOPED_TRACE(c.name);
    const EnvironmentScope scope(c.environment);
    const auto folder = Options::from_env().cache_folder;
    ASSERT_EQ(folder.has_value(), c.folder.has_value());
    EXPECT_EQ(folder.value_or("").string(), c.folder.value_or(""));
  }
}

TEST(Options, HaveDefaults) {
  const EnvironmentScope scope(Environment{});
  const Options options = Options::from_env();
  EXPECT_TRUE(options.nvrtc_path.empty());
  EXPECT_EQ(options.device, 0);
  EXPECT_EQ(options.cache_memory_bytes, 256U << 20);
}

TEST(Options, ReadCompilerAndDevice) {
  const EnvironmentScope scope(
      Environment{{"TILEJIT_NVRTC", "/opt/nvrtc"}, {"TILEJIT_DEVICE", "12"}});
  const Options options = Options::from_env();
  EXPECT_EQ(options.nvrtc_path, "/opt/nvrtc");
  EXPECT_EQ(options.device, 12);
}

TEST(Options, ReadHowKernelsAreCompiled) {
  const EnvironmentScope scope(Environment{{"TILEJIT_COMPILE_EFFORT", "tiered"},
                                           {"TILEJIT_DETERMINISTIC", "1"},
                                           {"TILEJIT_COMPILE_JOBS", "8"},
                                           {"TILEJIT_COMPILE_THREADS", "0"},
                                           {"TILEJIT_WORKER", "/opt/tilejit-worker"},
                                           {"TILEJIT_WORKER_TIMEOUT", "5m"},
                                           {"TILEJIT_WORKER_MEMORY", "2G"}});
  const Options options = Options::from_env();
  EXPECT_EQ(options.compile_effort, CompileEffort::tiered);
  EXPECT_TRUE(options.deterministic);
  EXPECT_EQ(options.compile_jobs, 8);
  EXPECT_EQ(options.compile_threads, 0);
  EXPECT_EQ(options.worker_path, "/opt/tilejit-worker");
  EXPECT_EQ(options.worker_timeout, std::chrono::minutes(5));
  EXPECT_EQ(options.worker_memory_bytes, 2ULL << 30);
}

TEST(Options, RefuseWaysToCompileThatAreNone) {
  constexpr std::pair<const char*, const char*> kCases[] = {
      {"TILEJIT_COMPILE_EFFORT", "max"},   {"TILEJIT_DETERMINISTIC", "yes"},
      {"TILEJIT_COMPILE_JOBS", "-1"},      {"TILEJIT_COMPILE_THREADS", "two"},
      {"TILEJIT_WORKER_TIMEOUT", "never"}, {"TILEJIT_WORKER_TIMEOUT", "0"},
      {"TILEJIT_WORKER_MEMORY", "much"},
  };
  for (const auto& [name, text] : kCases) {
    const EnvironmentScope scope(Environment{{name, text}});
    EXPECT_EQ(
        expect_error(ErrorCode::invalid_argument, "; set it to", [] { (void)Options::from_env(); }),
        name);
  }
}

TEST(Options, ReadThePathOfReadOnlyFolders) {
  const EnvironmentScope scope(Environment{{"TILEJIT_CACHE_PATH", ":/a b::c/d:"}});
  EXPECT_EQ(Options::from_env().cache_path, (std::vector<std::filesystem::path>{"/a b", "c/d"}));
}

TEST(Options, ReadWhatIsCopied) {
  using namespace std::chrono_literals;
  const auto after = [](const char* text) {
    const EnvironmentScope scope(Environment{{"TILEJIT_CACHE_COPY_AFTER_MS", text}});
    return Options::from_env().cache_copy_after;
  };
  EXPECT_EQ(after(""), 1ms);
  EXPECT_EQ(after("0"), 0ms);
  EXPECT_EQ(after("250"), 250ms);
  EXPECT_EQ(after("off"), std::chrono::microseconds::max());
  for (const char* text : {"-1", "1.5", "1ms", "on"}) {
    EXPECT_EQ(expect_error(ErrorCode::invalid_argument, "set it to milliseconds",
                           [&] { (void)after(text); }),
              "TILEJIT_CACHE_COPY_AFTER_MS");
  }
}

TEST(Options, ReadTheRemote) {
  {
    const EnvironmentScope scope(Environment{});
    EXPECT_EQ(Options::from_env().cache_remote.url, "");
  }
  const EnvironmentScope scope(Environment{{"TILEJIT_CACHE_REMOTE", "http://cache.example.org/"},
                                           {"TILEJIT_CACHE_REMOTE_MODE", "must-hit"}});
  EXPECT_EQ(Options::from_env().cache_remote.url, "http://cache.example.org/");
  EXPECT_EQ(Options::from_env().cache_remote.mode, cache::RemoteMode::must_hit);
  const EnvironmentScope wrong(Environment{{"TILEJIT_CACHE_REMOTE", "http://cache.example.org/"},
                                           {"TILEJIT_CACHE_REMOTE_MODE", "sometimes"}});
  expect_error(ErrorCode::invalid_argument, "sometimes", [] { (void)Options::from_env(); });
}

TEST(Options, ReadWhatIsKept) {
  const auto keep = [](const char* text) {
    const EnvironmentScope scope(Environment{{"TILEJIT_CACHE_KEEP", text}});
    const CacheKeep keep = Options::from_env().cache_keep;
    return std::to_string(keep.source) + std::to_string(keep.ptx) + std::to_string(keep.log) +
           std::to_string(keep.sass);
  };
  EXPECT_EQ(keep(""), "0000");
  EXPECT_EQ(keep("ptx"), "0100");
  EXPECT_EQ(keep("log,source"), "1010");
  EXPECT_EQ(keep("sass"), "0001");
  EXPECT_EQ(keep("all"), "1111");
  EXPECT_EQ(expect_error(ErrorCode::invalid_argument, "'hex'; set it to some of",
                         [&] { keep("ptx,hex"); }),
            "TILEJIT_CACHE_KEEP");
}

TEST(Options, ReadWhetherProfilersSeeLines) {
  const auto line_info = [](const char* text) {
    const EnvironmentScope scope(Environment{{"TILEJIT_LINE_INFO", text}});
    return Options::from_env().line_info;
  };
  EXPECT_FALSE(line_info(""));
  EXPECT_TRUE(line_info("1"));
  expect_error(ErrorCode::invalid_argument, "'yes'; set it to 0 or 1", [&] { line_info("yes"); });
}

TEST(Options, ReadWhoSignsBundles) {
  const EnvironmentScope scope(Environment{{"TILEJIT_CACHE_BUNDLE_KEY", "/etc/key.pem"}});
  EXPECT_EQ(Options::from_env().cache_bundle_key, "/etc/key.pem");
}

TEST(Options, ReadWhomToTrust) {
  const auto trust = [](const char* text) {
    const EnvironmentScope scope(Environment{{"TILEJIT_CACHE_TRUST_ANYONE", text}});
    return Options::from_env().cache_trust_anyone;
  };
  EXPECT_TRUE(trust("1"));
  EXPECT_FALSE(trust("0"));
  EXPECT_FALSE(trust(""));
  EXPECT_EQ(expect_error(ErrorCode::invalid_argument, "set it to 0 or 1", [&] { trust("yes"); }),
            "TILEJIT_CACHE_TRUST_ANYONE");
}

TEST(Options, ReadTheBoundsOfTheCache) {
  {
    const EnvironmentScope scope(Environment{});
    EXPECT_EQ(Options::from_env().cache_max_bytes, 4ULL << 30);
    EXPECT_EQ(Options::from_env().cache_max_age.count(), 0);
  }
  {
    const EnvironmentScope scope(
        Environment{{"TILEJIT_CACHE_MAX_SIZE", "1.5M"}, {"TILEJIT_CACHE_MAX_AGE", "30d"}});
    EXPECT_EQ(Options::from_env().cache_max_bytes, 3ULL << 19);
    EXPECT_EQ(Options::from_env().cache_max_age, std::chrono::hours(24 * 30));
  }
  for (const char* name : {"TILEJIT_CACHE_MAX_SIZE", "TILEJIT_CACHE_MAX_AGE"}) {
    const EnvironmentScope scope(Environment{{name, "much"}});
    EXPECT_EQ(expect_error(ErrorCode::invalid_argument, "'much'; set it to",
                           [] { (void)Options::from_env(); }),
              name);
  }
}

TEST(Options, RejectADeviceThatIsNotANumber) {
  for (const char* text : {"x", "1x", "-1", " 1", "1.5", "99999999999"}) {
    SCOPED_TRACE(text);
    const EnvironmentScope scope(Environment{{"TILEJIT_DEVICE", text}});
    EXPECT_EQ(expect_error(ErrorCode::invalid_argument, "number of a device",
                           [] { (void)Options::from_env(); }),
              "TILEJIT_DEVICE");
  }
}

}  // namespace
}  // namespace tilejit
