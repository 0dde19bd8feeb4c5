#pragma once

#include <cuda_on_cpu/trace_row.h>

#include <cstddef>
#include <string>
#include <vector>

#include "memory/memory.h"

namespace cuda_on_cpu {

// What the program asks of its GPU, for the file that LAB_TRACE_TSV names: kernels, allocations and
// copies, in the columns of formats/cuda_on_cpu/trace_row.h. How often and how many bytes; times
// are 0, because they would mean nothing. Without LAB_TRACE_TSV nothing is noted.

bool trace_is_wanted();

/// `name` of `table` has come once more. Returns its row, of which there is one for each `shape`;
/// null if no trace is wanted. "beside kernels", "beside a kernel" or "beside no kernel": what a
/// library does in a stream has been done, and several kernels could have run at the same time, or
/// one, or none; also a "kernel" (several count as one), if other streams have kernels. "handed
/// over": the host hands its GPU a "kernel", or a "graph" of many, at once; what is captured is
/// not. "waits": the host has waited, and then the GPU had "kernels left" to run, or "no kernels
/// left".
TraceRow* note(const char* table, const std::string& name, std::size_t bytes = 0,
               const std::string& shape = "");

/// A kernel is launched. Where a line launches its kernel with other pointers than the last time,
/// that counts as "other pointers" in the table "arguments": a program that swaps its fields does.
void note_launch(const LaunchConfig& config, const std::vector<PointerArgument>& pointers);

/// A kernel has run. `static_shared`: bytes of its shared variables, as far as this launch was the
/// first to use them.
void note_kernel(const LaunchConfig& config, std::size_t static_shared);

/// "device", "managed", "pinned"
const char* name_of(Space space);

/// Counts the bytes of a copy. It is called when the copy is done, not when it is queued. One that
/// was asked for as cudaMemcpyHostToHost is the CPU's, wherever the memory is.
void note_copy(const void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind);

/// Host code has accessed managed memory, in a program whose every access is looked at. Its page
/// would move to the CPU. Counted by the line that allocated it; memory that was freed does not
/// count, because an access to it ends the program.
void note_host_access(const void* p);

}  // namespace cuda_on_cpu
