#pragma once

namespace cuda_on_cpu {

/// From now on an access to memory that is not there, by this thread of the CPU, ends the program
/// with a line that says whose access it was and what it missed.
void handle_faults_on_this_thread();

/// Sees to it for the thread that calls it first, the program's own. And a program that gets
/// SIGUSR1, as one does that has run for too long, ends with a line that says where it is.
void handle_faults();

}  // namespace cuda_on_cpu
