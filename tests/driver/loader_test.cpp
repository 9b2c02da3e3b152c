#include "driver/loader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "fake/fake_driver.hpp"
#include "tilejit/error.hpp"

namespace tilejit::driver {
namespace {

using ::testing::HasSubstr;

std::vector<std::string> symbols_looked_up() {
  std::vector<std::string> symbols;
  (void)resolve([&](const char* symbol) {
    symbols.emplace_back(symbol);
    return reinterpret_cast<void*>(1);
  });
  return symbols;
}

TEST(Loader, LooksUpTheVersionsThatTheHeaderDeclares) {
  const std::vector<std::string> all = symbols_looked_up();
  const std::set<std::string> symbols(all.begin(), all.end());
  for (const char* versioned :
       {"cuMemAlloc_v2", "cuMemFree_v2", "cuDeviceTotalMem_v2", "cuMemcpyHtoDAsync_v2",
        "cuStreamDestroy_v2", "cuEventDestroy_v2", "cuDevicePrimaryCtxRelease_v2",
        "cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2", "cuGraphInstantiateWithFlags"}) {
    EXPECT_TRUE(symbols.contains(versioned)) << versioned;
  }
  for (const char* old : {"cuMemAlloc", "cuStreamDestroy", "cuCtxPushCurrent"}) {
    EXPECT_FALSE(symbols.contains(old)) << old;
  }
  EXPECT_TRUE(symbols.contains("cuLaunchKernel"));
}

TEST(Loader, FillsEachFieldWithItsOwnFunction) {
  std::uintptr_t number = 0;
  std::uintptr_t launch = 0;
  std::uintptr_t alloc = 0;
  const Table table = resolve([&](const char* symbol) {
    ++number;
    if (std::string(symbol) == "cuLaunchKernel") launch = number;
    if (std::string(symbol) == "cuMemAlloc_v2") alloc = number;
    return reinterpret_cast<void*>(number);
  });
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(table.cuLaunchKernel_), launch);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(table.cuMemAlloc_), alloc);
}

constexpr const char* kOptional = "cuTensorMapEncodeTiled";

TEST(Loader, DoesWithoutWhatIsOptional) {
  const auto all_but = [](const std::string& missing) {
    return resolve([&](const char* symbol) {
      return symbol == missing ? nullptr : reinterpret_cast<void*>(1);
    });
  };
  EXPECT_EQ(all_but(kOptional).cuTensorMapEncodeTiled_, nullptr);
  EXPECT_NE(all_but("").cuTensorMapEncodeTiled_, nullptr);
}

TEST(Loader, NamesEachMissingFunction) {
  for (const std::string& missing : symbols_looked_up()) {
    if (missing == kOptional) continue;
    SCOPED_TRACE(missing);
    try {
      (void)resolve([&](const char* symbol) {
        return symbol == missing ? nullptr : reinterpret_cast<void*>(1);
      });
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::no_driver);
      EXPECT_THAT(error.what(), HasSubstr("no function " + missing));
    }
  }
}

struct InitCase {
  CUresult result;
  ErrorCode code;
  const char* text;
};
constexpr InitCase kInitFailures[] = {
    {CUDA_ERROR_NO_DEVICE, ErrorCode::no_device, "sees no device"},
    {CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, ErrorCode::no_driver, "different versions"},
    {CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, ErrorCode::no_driver, "compatibility library"},
    {CUDA_ERROR_SYSTEM_NOT_READY, ErrorCode::no_driver, "fabricmanager"},
    {CUDA_ERROR_STUB_LIBRARY, ErrorCode::no_driver, "stub library"},
    {CUDA_ERROR_OPERATING_SYSTEM, ErrorCode::no_driver, "permissions"},
    {CUDA_ERROR_UNKNOWN, ErrorCode::no_driver, "CUDA_ERROR_UNKNOWN (a fake failure)"},
};

TEST(Loader, ExplainsWhyInitialisationFailed) {
  for (const InitCase& c : kInitFailures) {
    SCOPED_TRACE(c.text);
    FakeDriver fake;
    fake.fail_on["cuInit"] = c.result;
    try {
      initialize(fake.table);
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), c.code);
      EXPECT_EQ(error.where(), "cuInit");
      EXPECT_THAT(error.what(), HasSubstr(c.text));
    }
  }
}

TEST(Loader, InitialisesAWorkingDriver) {
  FakeDriver fake;
  EXPECT_NO_THROW(initialize(fake.table));
  EXPECT_EQ(fake.count("cuInit"), 1);
}

TEST(Loader, RealDriverWorksOrSaysWhyNot) {
  try {
    const Table& driver = load_driver();
    EXPECT_EQ(&driver, &load_driver());
    EXPECT_NE(version_text(driver), "unknown");
  } catch (const Error& error) {
    EXPECT_TRUE(error.code() == ErrorCode::no_driver || error.code() == ErrorCode::no_device);
    EXPECT_FALSE(error.where().empty());
    EXPECT_THROW((void)load_driver(), Error);  // a failure is not remembered as a success
  }
}

TEST(Check, NamesTheCallTheErrorAndWhatToDo) {
  const FakeDriver fake;
  EXPECT_NO_THROW(check(fake.table, CUDA_SUCCESS, "cuMemAlloc"));
  try {
    check(fake.table, CUDA_ERROR_OUT_OF_MEMORY, "cuMemAlloc");
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::driver_call);
    EXPECT_EQ(error.where(), "cuMemAlloc");
    EXPECT_THAT(error.what(), HasSubstr("cuMemAlloc failed"));
    EXPECT_THAT(error.what(), HasSubstr("free device memory"));
  }
}

TEST(Check, NumbersAnErrorThatTheDriverCannotName) {
  FakeDriver fake;
  fake.table.cuGetErrorName_ = [](CUresult, const char**) { return CUDA_ERROR_INVALID_VALUE; };
  EXPECT_EQ(describe(fake.table, static_cast<CUresult>(4321)), "CUDA error 4321");
}

TEST(VersionText, SplitsTheNumber) {
  FakeDriver fake;
  fake.version = 12080;
  EXPECT_EQ(version_text(fake.table), "12.8");
  fake.fail_on["cuDriverGetVersion"] = CUDA_ERROR_UNKNOWN;
  EXPECT_EQ(version_text(fake.table), "unknown");
}

}  // namespace
}  // namespace tilejit::driver
