#include "front/key.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "fake/hand_plans.hpp"
#include "front/compile_options.hpp"
#include "render/render.hpp"
#include "tilejit/cache/entry.hpp"
#include "tilejit/cache_identity.hpp"

namespace tilejit::front {
namespace {

HandPlan hand_plan() {
  HandPlan plan;
  plan.in("x", "(64,32):(32,1)").out("y", "(64,32):(32,1)").scalar("alpha", f32);
  return plan;
}

TEST(Key, IsCanonicalJsonOfEverythingACubinDependsOn) {
  const HandPlan hand = hand_plan();
  const std::string text = key_text(hand.planned(), "abc123");
  const auto key = nlohmann::ordered_json::parse(text);
  EXPECT_EQ(key.dump(), text);
  EXPECT_EQ(key.size(), 6U);
  EXPECT_EQ(key["key_schema"], kKeySchema);
  EXPECT_EQ(key["compiler"], "abc123");
  EXPECT_EQ(key["generator"], render::generator_digest());
  EXPECT_EQ(key["options"], nlohmann::ordered_json(all_options(Effort::full)));
  EXPECT_EQ(key["plan"].dump(), plan::to_json(hand.plan));
  EXPECT_EQ(key["target"], "sm_90a");
}

TEST(Key, ChangesWithEveryPart) {
  std::set<std::string> texts = {key_text(hand_plan().planned(), "abc123")};
  std::size_t variants = 1;
  const auto expect_new = [&](const HandPlan& hand, const char* build) {
    texts.insert(key_text(hand.planned(), build));
    EXPECT_EQ(texts.size(), ++variants);
  };
  expect_new(hand_plan(), "abc124");
  HandPlan hand = hand_plan();
  hand.plan.target = parse_target("sm_90");
  expect_new(hand, "abc123");
  hand = hand_plan();
  hand.plan.kernel_name = "other";
  expect_new(hand, "abc123");
  hand = hand_plan();
  hand.plan.threads = 128;
  expect_new(hand, "abc123");
  texts.insert(key_text(hand_plan().planned(), "abc123", LineInfo::no, Effort::quick));
  EXPECT_EQ(texts.size(), ++variants);
}

TEST(Metadata, HoldsTheKeyAndWhatPeopleAskFor) {
  const HandPlan hand = hand_plan();
  const std::string text = key_text(hand.planned(), "abc123");
  const std::string log = "ptxas info    : Used 14 registers, used 0 barriers\n";
  const StepTimes times{.plan = 0.25, .render = 0.5, .nvrtc = 12.5};
  const auto metadata =
      nlohmann::json::parse(metadata_text(hand.planned(), text, log, "13.0", times));
  const auto key = nlohmann::json::parse(text);
  for (const auto& [name, value] : key.items()) {
    EXPECT_EQ(metadata.at(name), value) << name;
  }
  EXPECT_EQ(metadata["kernel"], "tilejit_hand");
  EXPECT_EQ(metadata["compiler_version"], "13.0");
  EXPECT_EQ(metadata["milliseconds"].dump(), R"({"nvrtc":12.5,"plan":0.25,"render":0.5})");
  EXPECT_EQ(metadata["plan"].dump(), key["plan"].dump());
  EXPECT_EQ(metadata["registers"], 14);
  EXPECT_EQ(metadata["spill_bytes"], 0);
  EXPECT_EQ(metadata["created"].get<std::string>().size(),
            std::string("2025-01-01T00:00:00Z").size());
}

TEST(Metadata, LeavesOutResourcesThatNobodyReported) {
  const HandPlan hand = hand_plan();
  const auto metadata = nlohmann::json::parse(
      metadata_text(hand.planned(), key_text(hand.planned(), "abc123"), "", "13.0", StepTimes{}));
  EXPECT_FALSE(metadata.contains("registers"));
}

TEST(Identity, IsTheHashOfTheKeysFields) {
  const HandPlan hand = hand_plan();
  const std::string text = key_text(hand.planned(), "abc123");
  const std::string key = cache::sha256_hex(text);
  const std::string metadata = metadata_text(hand.planned(), text, "", "13.0", StepTimes{});
  const auto json = nlohmann::ordered_json::parse(metadata);
  auto changed = [&](const char* name, const nlohmann::ordered_json& value) {
    auto copy = json;
    copy[name] = value;
    return copy.dump(2);
  };
  auto without_kernel = nlohmann::ordered_json::parse(text);
  const struct {
    const char* name;
    std::string metadata;
    bool expected;
  } cases[] = {
      {"as it is written", metadata, true},
      {"laid out for people, as older entries are", json.dump(2), true},
      {"on one line", json.dump(), true},
      {"with tabs and carriage returns", json.dump(1, '\t') + "\r\n", true},
      {"the fields of the key alone", without_kernel.dump(2), true},
      {"another name for people", changed("kernel", "other"), true},
      {"another target", changed("target", "sm_80"), false},
      {"another compiler", changed("compiler", "abc124"), false},
      {"another plan", changed("plan", nlohmann::ordered_json::object()), false},
      {"no fields of a key", R"({"kernel":"tilejit_hand"})", false},
      {"an empty object", "{}", false},
      {"nothing", "", false},
      {"no JSON", "]]]}}}{{{\"", false},
      {"a text that does not end", "{\"compiler", false},
      {"an escape", R"({"compiler":"a\\"b"})", false},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(is_entry_of(key, c.metadata), c.expected);
    EXPECT_FALSE(is_entry_of(std::string(64, '0'), c.metadata));
  }
}

}  // namespace
}  // namespace tilejit::front
