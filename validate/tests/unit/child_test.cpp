#include "run/child.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "test_helpers.h"

namespace {

using validate::ChildResult;
using validate::run_child;

// Far above what each of these tests takes where all is well, far below the sleeps in them.
constexpr double kPromptly = 20;

ChildResult run_shell(const std::string& script, double time_limit = 60) {
  return run_child({"sh", "-c", script}, time_limit);
}

/// Whether the process has ended. One that nobody has waited for still has its number.
bool has_ended(pid_t process) {
  if (kill(process, 0) != 0) return errno == ESRCH;
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string stat;
  std::getline(file, stat);
  const std::size_t name_end = stat.rfind(')');
  return name_end == std::string::npos || stat.compare(name_end, 3, ") Z") == 0;
}

/// The same, after a moment: init waits for orphans in its own time. What goes on is ended here, so
/// that this test leaves nothing behind when it fails.
bool has_ended_soon(pid_t process) {
  for (int k = 0; k < 100 && !has_ended(process); ++k) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  if (has_ended(process)) return true;
  kill(process, SIGKILL);
  return false;
}

TEST(ChildTest, tells_the_exit_code) {
  for (int code : {0, 1, 2, 77, 255}) {
    const ChildResult result = run_shell("exit " + std::to_string(code));
    EXPECT_TRUE(result.started);
    EXPECT_FALSE(result.timed_out);
    EXPECT_EQ(result.exit_code, code);
    EXPECT_EQ(result.signal, 0);
    EXPECT_LT(result.seconds, kPromptly);
  }
}

TEST(ChildTest, hands_the_arguments_on_as_they_are) {
  const ChildResult result = run_child({"printf", "%s|", "two words", "", "$HOME", "*"}, 60);
  EXPECT_EQ(result.output, "two words||$HOME|*|");
}

TEST(ChildTest, tells_the_signal) {
  const ChildResult result = run_shell("kill -SEGV $$");
  EXPECT_TRUE(result.started);
  EXPECT_FALSE(result.timed_out);
  EXPECT_EQ(result.signal, SIGSEGV);
  EXPECT_EQ(result.exit_code, -1);
}

TEST(ChildTest, the_last_line_does_nothing_to_a_terminal) {
  EXPECT_EQ(run_shell("printf 'a\\033]0;owned\\007b\\tc\\177\\n'").last_line(), "a?]0;owned?b\tc?");
}

TEST(ChildTest, the_last_line_is_none_of_a_launchers_warnings) {
  EXPECT_EQ(
      run_shell("echo 'a: rank 1: why'; echo '[warn] Epoll MOD(1) on fd 26 failed'").last_line(),
      "a: rank 1: why");
  EXPECT_EQ(run_shell("echo '[warn] Epoll'").last_line(), "[warn] Epoll");
}

TEST(ChildTest, tells_the_cpu_time) {
  EXPECT_LT(run_shell("sleep 1").cpu_seconds, 0.5);
  // Work, not a time: on a busy machine a second is little of a CPU.
  const ChildResult busy = run_shell("k=0; while [ $k -lt 500000 ]; do k=$((k + 1)); done");
  EXPECT_GT(busy.cpu_seconds, 0.1);
}

TEST(ChildTest, time_without_a_cpu_does_not_count) {
  const std::string work = "k=0; while [ $k -lt 500000 ]; do k=$((k + 1)); done";
  const double alone = run_shell(work).cpu_seconds;
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  // They share that CPU with the child, which gets a ninth of it. (And needs more of it than alone,
  // up to three times: its cache, and of a virtual machine perhaps its core, is not its own.)
  std::atomic<bool> stop{false};
  std::vector<std::thread> others(8);
  for (std::thread& other : others)
    other = std::thread([&] {
      while (!stop) continue;
    });
  const ChildResult busy = run_shell(work, 5 * alone);
  const ChildResult of_launcher = run_shell("(" + work + "); exit 0", 5 * alone);
  stop = true;
  for (std::thread& other : others) other.join();
  sched_setaffinity(0, sizeof before, &before);
  for (const ChildResult& shared : {busy, of_launcher}) {
    EXPECT_FALSE(shared.timed_out) << shared.seconds << " s, " << shared.cpu_seconds << " s used";
  }
}

TEST(ChildTest, one_that_is_unwanted_is_ended_early) {
  std::atomic<bool> unwanted{false};
  std::thread soon([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    unwanted = true;
  });
  const ChildResult result = run_child({"sleep", "1000"}, 500, &unwanted);
  soon.join();
  EXPECT_LT(result.seconds, kPromptly);
}

TEST(ChildTest, several_threads_run_one_each_and_end_only_what_is_theirs) {
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int k = 0; k < 8; ++k) {
    threads.emplace_back([&right, k] {
      // Some leave a process of another session behind, while others still run.
      const std::string script = k % 2 == 0 ? "setsid sleep 1000 & exit 7" : "sleep 1; exit 7";
      if (run_shell(script).exit_code == 7) ++right;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 8);
}

TEST(ChildTest, does_not_outlive_a_caller_that_is_killed) {
  const test::TemporaryFolder folder;
  const std::string file = folder.path() + "/pid";
  const pid_t caller = fork();
  if (caller == 0) {
    run_child({"sh", "-c",
               "echo $$ >" + file + ".new; mv " + file + ".new " + file + "; exec sleep 1000"},
              500);
    _exit(0);
  }
  for (int k = 0; k < 500 && !std::filesystem::exists(file); ++k) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  kill(caller, SIGKILL);
  waitpid(caller, nullptr, 0);
  pid_t child = 0;
  std::ifstream(file) >> child;
  ASSERT_GT(child, 0);
  EXPECT_TRUE(has_ended_soon(child));
}

TEST(ChildTest, a_build_has_ended_once_its_file_has_a_number) {
  const test::TemporaryFolder folder;
  const std::string file = folder.path() + "/built";
  for (const char* status : {"0\n", "2\n"}) {
    test::write_file(file, "");
    std::thread build([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      std::ofstream(file) << status;
    });
    EXPECT_EQ(validate::wait_for_build(file), *status == '0');
    build.join();
  }
}

TEST(ChildTest, a_program_that_is_not_there_did_not_start) {
  const ChildResult result = run_child({"/nowhere/no-such-program"}, 60);
  EXPECT_FALSE(result.started);
  EXPECT_EQ(result.output, "No such file or directory");
}

TEST(ChildTest, a_file_that_is_no_program_did_not_start) {
  const test::TemporaryFolder folder;
  const std::string file = folder.path() + "/file";
  test::write_file(file, "text");
  EXPECT_FALSE(run_child({file}, 60).started);
  EXPECT_EQ(run_child({file}, 60).output, "Permission denied");
  EXPECT_FALSE(run_child({folder.path()}, 60).started);
}

TEST(ChildTest, exit_code_127_is_the_programs_own) {
  const ChildResult result = run_shell("exit 127");
  EXPECT_TRUE(result.started);
  EXPECT_EQ(result.exit_code, 127);
}

TEST(ChildTest, collects_both_outputs) {
  const ChildResult result = run_shell("echo one; echo two >&2; printf three");
  EXPECT_EQ(result.output, "one\ntwo\nthree");
}

// Though this process has some: a program that reads it must not take what a script reads after it.
TEST(ChildTest, has_no_input) {
  const test::TemporaryFolder folder;
  test::write_file(folder.path() + "/input", "some input\n");
  const int before = dup(STDIN_FILENO);
  const int input = open((folder.path() + "/input").c_str(), O_RDONLY);
  ASSERT_EQ(dup2(input, STDIN_FILENO), STDIN_FILENO);
  const ChildResult result = run_shell("cat; echo end");
  dup2(before, STDIN_FILENO);
  close(before);
  close(input);
  EXPECT_EQ(result.output, "end\n");
  EXPECT_LT(result.seconds, kPromptly);
}

TEST(ChildTest, keeps_the_last_64_kib_of_a_huge_output) {
  const ChildResult result = run_shell("yes 0123456789 | head -c 5000000; echo; echo the end");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.output.size(), 64u << 10);
  EXPECT_LT(result.output.capacity(), 1u << 20) << "it held more at some time";
  EXPECT_EQ(result.last_line(), "the end");
  EXPECT_LT(result.seconds, kPromptly);
}

TEST(ChildTest, waits_for_a_program_that_closed_its_outputs) {
  const ChildResult result = run_shell("echo bye; exec >/dev/null 2>&1; sleep 0.3; exit 5");
  EXPECT_EQ(result.exit_code, 5);
  EXPECT_EQ(result.output, "bye\n");
  EXPECT_GE(result.seconds, 0.3);
}

TEST(ChildTest, the_time_limit_ends_the_whole_group) {
  const ChildResult result = run_shell("sleep 1000 & echo $!; sleep 1000", 1);
  EXPECT_TRUE(result.started);
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.signal, 0) << "the signal is ours";
  EXPECT_GE(result.seconds, 1.0);
  EXPECT_LT(result.seconds, kPromptly);
  const pid_t grandchild = std::atoi(result.output.c_str());
  ASSERT_GT(grandchild, 1) << result.output;
  EXPECT_TRUE(has_ended_soon(grandchild));
}

TEST(ChildTest, a_limit_of_cpu_time_ends_what_computes) {
  const ChildResult result = run_child({"sh", "-c", "while :; do :; done"}, {600, 0.3});
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.limit, 0.3);
  EXPECT_LT(result.seconds, kPromptly);
  EXPECT_FALSE(run_child({"sleep", "1"}, {600, 0.3}).timed_out);
}

TEST(ChildTest, at_the_time_limit_a_program_may_say_where_it_is) {
  const ChildResult result =
      run_shell("trap 'echo here; exit 3' USR1; while :; do sleep 0.1; done", 0.5);
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.last_line(), "here");
  EXPECT_LT(result.seconds, 0.5 + kPromptly);
}

TEST(ChildTest, the_time_limit_holds_for_a_program_that_ignores_signals) {
  const ChildResult result = run_shell("trap '' TERM INT HUP USR1; while :; do sleep 1; done", 0.5);
  EXPECT_TRUE(result.timed_out);
  EXPECT_LT(result.seconds, kPromptly);
}

TEST(ChildTest, the_time_limit_holds_while_output_pours_out) {
  // `timeout`, so that this test ends where the limit does not hold.
  const ChildResult result = run_child({"timeout", "30", "yes"}, 0.5);
  EXPECT_TRUE(result.timed_out);
  EXPECT_LT(result.seconds, kPromptly);
  EXPECT_LE(result.output.size(), 64u << 10);
}

TEST(ChildTest, a_process_left_behind_is_ended_though_it_holds_the_pipe) {
  const ChildResult result = run_shell("sleep 1000 & echo $!; exit 3");
  EXPECT_FALSE(result.timed_out);
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_LT(result.seconds, kPromptly);
  const pid_t grandchild = std::atoi(result.output.c_str());
  ASSERT_GT(grandchild, 1) << result.output;
  EXPECT_TRUE(has_ended_soon(grandchild));
}

TEST(ChildTest, a_daemon_is_ended_that_left_the_group) {
  const ChildResult result =
      run_shell("setsid sh -c 'echo $$; exec sleep 1000' & sleep 0.3; exit 3");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_LT(result.seconds, kPromptly);
  const pid_t daemon = std::atoi(result.output.c_str());
  ASSERT_GT(daemon, 1) << result.output;
  EXPECT_TRUE(has_ended_soon(daemon));
}

// In a process of its own: an interrupt is remembered for good.
TEST(ChildDeathTest, an_interrupt_ends_the_child_and_is_thrown) {
  const test::TemporaryFolder folder;
  const std::string file = folder.path() + "/process";
  EXPECT_EXIT(
      {
        std::signal(SIGINT, SIG_DFL);  // a shell ignores it for jobs in the background
        validate::catch_interrupts();
        std::thread([&]() {
          while (!test::exists(file)) std::this_thread::sleep_for(std::chrono::milliseconds(10));
          kill(getpid(), SIGINT);
        }).detach();
        try {
          run_child(
              {"sh", "-c", "echo $$ >\"$0.new\"; mv \"$0.new\" \"$0\"; exec sleep 1000", file}, 60);
        } catch (const validate::Interrupted& interrupted) {
          std::exit(interrupted.signal);
        }
        std::exit(99);
      },
      ::testing::ExitedWithCode(SIGINT), "");
  EXPECT_TRUE(has_ended_soon(std::atoi(test::read_file(file).c_str())));
}

TEST(ChildDeathTest, a_signal_that_nohup_made_us_ignore_stays_ignored) {
  EXPECT_EXIT(
      {
        std::signal(SIGHUP, SIG_IGN);
        validate::catch_interrupts();
        raise(SIGHUP);
        std::exit(run_shell("exit 5").exit_code);
      },
      ::testing::ExitedWithCode(5), "");
}

std::string last_line_of(const std::string& output) {
  ChildResult result;
  result.output = output;
  return result.last_line();
}

TEST(LastLineTest, is_the_last_that_is_not_blank) {
  EXPECT_EQ(last_line_of(""), "");
  EXPECT_EQ(last_line_of("\n"), "");
  EXPECT_EQ(last_line_of("\n \t\n\n"), "");
  EXPECT_EQ(last_line_of("one"), "one");
  EXPECT_EQ(last_line_of("one\n"), "one");
  EXPECT_EQ(last_line_of("one\ntwo\n"), "two");
  EXPECT_EQ(last_line_of("one\ntwo"), "two");
  EXPECT_EQ(last_line_of("one\n\n  \n\t\n"), "one");
  EXPECT_EQ(last_line_of("\none\n"), "one");
}

TEST(LastLineTest, leaves_progress_lines_out) {
  EXPECT_EQ(last_line_of("10 %\r20 %\rerror: no\n"), "error: no");
  EXPECT_EQ(last_line_of("error: no\n10 %\r20 %\r"), "error: no");
}

TEST(LastLineTest, knows_lines_that_end_as_on_windows) {
  EXPECT_EQ(last_line_of("one\r\ntwo\r\n\r\n"), "two");
}

TEST(LastLineTest, is_cut_where_it_is_very_long) {
  EXPECT_EQ(last_line_of(std::string(10000, 'x') + "\n").size(), 500u);
}

TEST(DescribeSignalTest, names_it) {
  for (auto [signal, name] : {std::pair(SIGSEGV, "SIGSEGV"),
                              {SIGBUS, "SIGBUS"},
                              {SIGABRT, "SIGABRT"},
                              {SIGFPE, "SIGFPE"},
                              {SIGILL, "SIGILL"},
                              {SIGKILL, "SIGKILL"},
                              {SIGPIPE, "signal 13"}}) {
    EXPECT_EQ(validate::describe_signal(signal).rfind(name, 0), 0u) << name;
  }
}

}  // namespace
