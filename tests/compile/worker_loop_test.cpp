// What a worker says and when it ends, with a fake compiler.
#include "compile/worker_loop.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "compile/channel.hpp"
#include "tilejit/version.hpp"

namespace tilejit::compile {
namespace {

using Status = Channel::Status;
using ::testing::HasSubstr;

Engine open_fake(const Hello& hello) {
  if (hello.compiler.build == "none") throw Error(ErrorCode::no_compiler, "there is none");
  const auto compile = [](const Request& request) -> Compiled {
    if (request.source.text == "hang") {
      for (;;) ::pause();
    }
    if (request.source.text == "error") throw Error(ErrorCode::unsupported, "not here", "k.cu");
    return {.cubin =
                "\x7f"
                "ELF" +
                request.source.text,
            .ptx = "",
            .log = "",
            .compiler_version = "13.0",
            .milliseconds = 1};
  };
  return {.build = hello.compiler.build, .version = "13.0", .compile = compile};
}

/// A process that serves over `socket`.
class Served {
 public:
  Served() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    process_ = ::fork();
    if (process_ == 0) {
      ::close(ends[0]);
      ::_exit(serve(ends[1], open_fake));
    }
    ::close(ends[1]);
    channel_ = Channel(UniqueFd(ends[0]));
  }
  std::string exchange(const std::string& body) {
    EXPECT_EQ(channel_.send(body), Status::done);
    std::string answer;
    EXPECT_EQ(channel_.receive(answer, {.until = Channel::Clock::now() + std::chrono::seconds(20)}),
              Status::done);
    return answer;
  }
  void send(const std::string& body) { EXPECT_EQ(channel_.send(body), Status::done); }
  /// Waits until the process has closed its end.
  void expect_closed() {
    std::string answer;
    EXPECT_EQ(channel_.receive(answer, {.until = Channel::Clock::now() + std::chrono::seconds(20)}),
              Status::closed);
  }
  /// Closes our end, at which the process always ends normally; returns its exit status.
  int end() {
    channel_ = Channel(UniqueFd());
    return end_by_itself();
  }
  /// The exit status of a process that ends without that.
  int end_by_itself() {
    int status = 0;
    EXPECT_EQ(::waitpid(process_, &status, 0), process_);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t process_ = -1;
  Channel channel_{UniqueFd()};
};

Hello hello(const std::string& build = "ab") {
  return {.version = std::string(version()),
          .compiler = {.path = "/opt/libnvrtc.so", .build = build}};
}

Order order(std::uint64_t id, const std::string& text) {
  Order order{.id = id};
  order.request.source.text = text;
  return order;
}

TEST(WorkerLoop, AnswersUntilItsSocketIsClosed) {
  Served worker;
  const auto welcome = decode_welcome(worker.exchange(encode(hello())));
  ASSERT_TRUE(welcome);
  EXPECT_EQ(
      *welcome,
      (Welcome{.version = std::string(version()), .build = "ab", .compiler_version = "13.0"}));
  const auto made = decode_reply(worker.exchange(encode(order(1, "one"))));
  ASSERT_TRUE(made);
  EXPECT_EQ(made->compiled.cubin,
            "\x7f"
            "ELFone");
  const auto refused = decode_reply(worker.exchange(encode(order(2, "error"))));
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->id, 2U);
  EXPECT_EQ(refused->refusal,
            (Refusal{.code = ErrorCode::unsupported, .what = "not here", .where = "k.cu"}));
  EXPECT_EQ(worker.end(), 0);
}

TEST(WorkerLoop, EndsInTheMiddleOfACompileThatNobodyWants) {
  Served worker;
  (void)worker.exchange(encode(hello()));
  worker.send(encode(order(1, "hang")));
  EXPECT_EQ(worker.end(), 0);
}

TEST(WorkerLoop, SaysWhyItCannotWork) {
  Served without;
  EXPECT_EQ(decode_welcome(without.exchange(encode(hello("none"))))->refusal, "there is none");
  EXPECT_EQ(without.end_by_itself(), 1);
  Served other;
  Hello newer = hello();
  newer.protocol += 1;
  EXPECT_THAT(decode_welcome(other.exchange(encode(newer)))->refusal, HasSubstr("protocol"));
  EXPECT_EQ(other.end_by_itself(), 1);
}

TEST(WorkerLoop, EndsAtRubbish) {
  Served worker;
  worker.send("no greeting");
  worker.expect_closed();
  EXPECT_EQ(worker.end_by_itself(), 1);
  Served later;
  (void)later.exchange(encode(hello()));
  later.send("no order");
  later.expect_closed();
  EXPECT_EQ(later.end_by_itself(), 1);
}

}  // namespace
}  // namespace tilejit::compile
