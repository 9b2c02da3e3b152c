#include "compile/message.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tilejit::compile {
namespace {

Order an_order() {
  Order order{.id = 0x0123456789abcdefu};
  order.request.source = {
      .name = "k.cu", .text = "text", .headers = {{"a.cuh", "a"}, {"b.cuh", ""}}};
  order.request.target = "sm_90a";
  order.request.options = {"--one", "--two"};
  order.request.want_ptx = true;
  return order;
}

Reply a_reply() {
  Reply reply{.id = 7};
  reply.compiled = {.cubin = std::string("\x7f"
                                         "ELF\0\1",
                                         6),
                    .ptx = ".target",
                    .log = "log",
                    .compiler_version = "13.0",
                    .milliseconds = 12.5};
  return reply;
}

Reply a_refusal() {
  return {
      .id = 8,
      .refusal = Refusal{.code = ErrorCode::unsupported, .what = "w", .where = "k", .log = "l"}};
}

const Hello kHello{.version = "0.1.0", .compiler = {.path = "/opt/libnvrtc.so.13", .build = "ab"}};
const Welcome kWelcome{
    .version = "0.1.0", .build = "ab", .compiler_version = "13.0", .refusal = "why"};

TEST(Message, ComesBackAsItWas) {
  EXPECT_EQ(decode_hello(encode(kHello)), kHello);
  EXPECT_EQ(decode_welcome(encode(kWelcome)), kWelcome);
  EXPECT_EQ(decode_order(encode(an_order())), an_order());
  EXPECT_EQ(decode_reply(encode(a_reply())), a_reply());
  EXPECT_EQ(decode_reply(encode(a_refusal())), a_refusal());
}

// Processes of different builds must agree on the format.
TEST(Message, HasItsBytes) {
  EXPECT_EQ(encode(Hello{.version = "1", .compiler = {.path = "/x", .build = ""}}),
            std::string("\1"
                        "\1\0\0\0"
                        "\1\0\0\0"
                        "1"
                        "\2\0\0\0"
                        "/x"
                        "\0\0\0\0",
                        20));
  EXPECT_EQ(frame_header(0x0102), std::string("TJWK\2\1\0\0", 8));
  EXPECT_EQ(body_bytes(frame_header(0x0102)), 0x0102U);
}

template <class Decode>
void expect_only_whole(const std::string& body, Decode decode) {
  ASSERT_TRUE(decode(body));
  for (std::size_t bytes = 0; bytes < body.size(); ++bytes) {
    EXPECT_FALSE(decode(body.substr(0, bytes))) << bytes;
  }
  EXPECT_FALSE(decode(body + '\0'));
  EXPECT_FALSE(decode('\x09' + body.substr(1)));
}

TEST(Message, IsRefusedUnlessItIsWhole) {
  expect_only_whole(encode(kHello), decode_hello);
  expect_only_whole(encode(kWelcome), decode_welcome);
  expect_only_whole(encode(an_order()), decode_order);
  expect_only_whole(encode(a_reply()), decode_reply);
  expect_only_whole(encode(a_refusal()), decode_reply);
}

TEST(Message, RefusesAnswersThatCannotBe) {
  Reply reply = a_reply();
  reply.compiled.cubin = "text";
  EXPECT_FALSE(decode_reply(encode(reply)));
  reply = a_reply();
  reply.compiled.milliseconds = -1;
  EXPECT_FALSE(decode_reply(encode(reply)));
  reply = a_refusal();
  reply.refusal->code = ErrorCode::no_driver;  // not a compiler's to say
  EXPECT_FALSE(decode_reply(encode(reply)));
}

TEST(Message, RefusesFramesThatAreNone) {
  for (const std::string& header :
       {std::string(), std::string("TJWK"), frame_header(0), frame_header(kMaxBody + 1),
        std::string("GET / HT"), std::string(8, '\0')}) {
    EXPECT_FALSE(body_bytes(header)) << header;
  }
  EXPECT_EQ(body_bytes(frame_header(kMaxBody)), kMaxBody);
}

TEST(Message, CarriesErrors) {
  const Error error(ErrorCode::compile_failed, "it is wrong", "k.cu", "the log");
  const Error back = to_error(to_refusal(error));
  EXPECT_STREQ(back.what(), error.what());
  EXPECT_EQ(back.code(), error.code());
  EXPECT_EQ(back.where(), error.where());
  EXPECT_EQ(back.log(), error.log());
}

}  // namespace
}  // namespace tilejit::compile
