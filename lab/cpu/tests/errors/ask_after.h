#pragma once

#include <csignal>
#include <cstdlib>
#include <thread>

#include <unistd.h>

/// Asks this program where it is (SIGUSR1) when the given seconds have passed. While it answers, it
/// must not be asked by SIGALRM, with which it asks itself again, nor the other way round. If it
/// could be, this ends the program.
inline void ask_after(int seconds) {
  std::thread([seconds] {
    sleep(seconds);
    for (const int number : {SIGUSR1, SIGALRM}) {
      struct sigaction answer;
      sigaction(number, nullptr, &answer);
      if (!sigismember(&answer.sa_mask, SIGUSR1 + SIGALRM - number)) std::abort();
    }
    kill(getpid(), SIGUSR1);
  }).detach();
}
