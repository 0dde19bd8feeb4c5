#pragma once

#include <csignal>
#include <thread>

#include <unistd.h>

/// Asks this program in so many seconds where it is, as one does who has waited for long enough.
inline void ask_after(int seconds) {
  std::thread([seconds] {
    sleep(seconds);
    kill(getpid(), SIGUSR1);
  }).detach();
}
