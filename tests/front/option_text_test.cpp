#include "tilejit/option_text.hpp"

#include <gtest/gtest.h>

#include "fake/expect_error.hpp"

namespace tilejit {
namespace {

Options in_a_folder() {
  return {.cache_folder = "/cache"};
}

TEST(OptionText, SetsWhatItNames) {
  const Options kept = with_option_text(in_a_folder(), "--keep-ptx --keep-cubin");
  EXPECT_TRUE(kept.cache_keep.ptx);
  EXPECT_FALSE(kept.cache_keep.source || kept.cache_keep.log || kept.cache_keep.sass);
  const Options all =
      with_option_text(in_a_folder(),
                       " --keep-source\t--keep-log --keep-sass\n--generate-line-info "
                       "--deterministic --effort=quick ");
  EXPECT_TRUE(all.cache_keep.source && all.cache_keep.log && all.cache_keep.sass);
  EXPECT_TRUE(all.line_info && all.deterministic);
  EXPECT_EQ(all.compile_effort, CompileEffort::quick);
  EXPECT_EQ(with_option_text({.compile_effort = CompileEffort::tiered}, "").compile_effort,
            CompileEffort::tiered);
}

TEST(OptionText, SaysWhatIsWrong) {
  expect_error(ErrorCode::invalid_argument,
               "there is no option --keep_ptx; did you mean '--keep-ptx'?",
               [] { (void)with_option_text(in_a_folder(), "--keep-cubin --keep_ptx"); });
  expect_error(ErrorCode::invalid_argument, "there is no option --opt-level",
               [] { (void)with_option_text({}, "--opt-level 3"); });
  expect_error(ErrorCode::invalid_argument, "--keep-ptx needs a folder",
               [] { (void)with_option_text({}, "--keep-ptx"); });
}

}  // namespace
}  // namespace tilejit
