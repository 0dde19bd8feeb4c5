#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <string>
#include <thread>

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

namespace cuda_on_cpu {

/// Cores that this process may use: a batch job has fewer than the machine. At least 1.
inline int usable_cores() {
  cpu_set_t usable;
  if (sched_getaffinity(0, sizeof usable, &usable) == 0) return CPU_COUNT(&usable);
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

/// This process's cgroup, such as "/slice/job_7"; "/" in a container, and where it is not known.
inline std::string own_cgroup() {
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    if (line.rfind("0::", 0) == 0) return line.substr(3);
  }
  return "/";
}

/// Bytes that the limits on memory leave to the cgroup `path` ("/slice/job_7") below the folder
/// `mount`: its own limit, and those of all above it. The largest size_t if there is none.
inline std::size_t memory_left_in_cgroups(const std::string& mount, std::string path) {
  std::size_t left = ~std::size_t{0};
  for (;;) {
    const std::string folder = mount + path;
    std::ifstream limit(folder + "/memory.max"), used(folder + "/memory.current");
    std::size_t limit_bytes = 0, used_bytes = 0;
    if (limit >> limit_bytes && used >> used_bytes) {
      // Of what is used the system gives back what only caches files.
      std::ifstream statistics(folder + "/memory.stat");
      std::string name;
      for (std::size_t bytes = 0; statistics >> name >> bytes;) {
        if (name == "inactive_file") used_bytes -= std::min(used_bytes, bytes);
      }
      left = std::min(left, limit_bytes > used_bytes ? limit_bytes - used_bytes : 0);
    }
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return left;
    path.resize(slash);
  }
}

/// Bytes of memory that this process can still take: what Linux calls available, what is left of
/// the cgroups' limits (a batch job's, a container's) or of the shell's (ulimit -v), whichever is
/// least. The largest size_t if that is not known.
inline std::size_t available_memory() {
  std::size_t available = ~std::size_t{0};
  std::ifstream meminfo("/proc/meminfo");
  for (std::string line; std::getline(meminfo, line);) {
    unsigned long long kib = 0;
    if (std::sscanf(line.c_str(), "MemAvailable: %llu kB", &kib) == 1) available = kib << 10;
  }
  available = std::min(available, memory_left_in_cgroups("/sys/fs/cgroup", own_cgroup()));
  rlimit address_space{};
  if (getrlimit(RLIMIT_AS, &address_space) == 0 && address_space.rlim_cur != RLIM_INFINITY) {
    // What the program takes already counts, and so does what it will take beside the fields.
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const std::size_t taken = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) + (8 << 20);
    const std::size_t limit = address_space.rlim_cur;
    available = std::min(available, limit > taken ? limit - taken : 0);
  }
  return available;
}

}  // namespace cuda_on_cpu
