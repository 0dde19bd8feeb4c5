#pragma once

#include <csignal>
#include <thread>

#include <unistd.h>

/// Asks this program in so many seconds where it is, as one does who has waited for long enough;
/// and goes on asking, in turn with the signal by which it asks itself: neither may come while it
/// answers the other.
inline void ask_after(int seconds) {
  std::thread([seconds] {
    sleep(seconds);
    for (;; usleep(300)) {
      kill(getpid(), SIGUSR1);
      usleep(300);
      kill(getpid(), SIGALRM);
    }
  }).detach();
}
