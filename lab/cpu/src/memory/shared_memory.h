#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "watch/access.h"

namespace cuda_on_cpu {

/// Room for the shared memory of one block.
char* reserve_shared_memory();
void release_shared_memory(char* shared);

/// Fills it with NaN (bytes 0xff), for a block that begins. Returns where the launch's own part of
/// `dynamic_bytes` stands; it ends at pages that cannot be touched.
char* fill_shared_memory(char* shared, std::size_t dynamic_bytes);

/// How far `address` lies in the room at `shared`; nothing if it does not.
std::optional<std::size_t> shared_offset(const char* shared, const void* address);

/// How many bytes before a block's shared memory an address is; 0: it is not near it.
std::size_t bytes_before_shared(const char* shared, const void* address);

/// What is called so at `offset`: "tile[0][32]".
std::string describe_shared(std::size_t offset);

/// Ends the program if an access of the block that runs leaves its variable, or the launch's own
/// part. `does`: what it does there, "reads".
void check_shared(std::size_t offset, std::size_t bytes, const char* does, const Site& site);

/// Ends the program: the block that runs accesses memory that many bytes before its shared memory.
[[noreturn]] void fail_before_shared(std::size_t bytes, const char* does, const Site& site);

/// Bytes of all shared variables that kernels have used so far.
std::size_t shared_variable_bytes();

/// How large a room is, in bytes, without the pages that cannot be touched.
extern const std::size_t kSharedRoom;

}  // namespace cuda_on_cpu
