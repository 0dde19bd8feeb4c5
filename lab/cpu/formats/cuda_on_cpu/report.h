#pragma once

#include <cstdlib>
#include <fstream>
#include <string>
#include <tuple>

#include <cuda_on_cpu/rows.h>

namespace cuda_on_cpu {

/// What a program reports of itself: why it ended, or what it left undone. On stderr that is one
/// line for people. In the file that LAB_REPORT names it is a row of the columns below, for
/// programs. What does not apply, or is not known, is empty or 0.
struct Report {
  std::string kind;         ///< what is wrong: "race", "out_of_bounds" ... (README.md has all)
  std::string file = {};    ///< of the program, as messages name it
  int line = 0;             ///< the line in it
  std::string access = {};  ///< "reads", "writes", "changes atomically"
  std::string array = {};   ///< what is accessed: tile[0][32]; of a call that failed, its text
  std::string place = {};   ///< of an access: "inside", "before" or "past" an allocation, "freed",
                            ///< "nowhere", "null"
  long distance = 0;        ///< bytes before the allocation, or past its end; at its end they are 0
  int allocated_line = 0;   ///< the line that allocated it
  long bytes = 0;  ///< of the allocation; otherwise those that there are; of launches, and of a
                   ///< block's threads that should meet: threads
  std::string block = {};   ///< blockIdx as x,y,z
  std::string thread = {};  ///< threadIdx
  std::string index = {};   ///< blockIdx * blockDim + threadIdx
  int other_line = 0;  ///< of a race: where the other thread was; else a line that belongs to it
  std::string other_block = {};   ///< of a race; empty: the same block
  std::string other_thread = {};  ///< of a race, a barrier
  std::string flags = {};         ///< words with a blank between them: "shared other_writes"
  std::string detail = {};        ///< what is wrong, without the place
  std::string words = {};         ///< the line as it is printed, without the program's name

  /// Whether `flag` is one of the flags.
  bool has(const std::string& flag) const {
    return (" " + flags + " ").find(" " + flag + " ") != std::string::npos;
  }

  /// The columns in order, and their names.
  static constexpr const char* kHeading =
      "kind\tfile\tline\taccess\tarray\tplace\tdistance\tallocated_"
      "line\tbytes\tblock\tthread\tindex\t"
      "other_line\tother_block\tother_thread\tflags\tdetail\twords\n";
  template <class Self>
  static auto columns(Self& self) {
    return std::tie(self.kind, self.file, self.line, self.access, self.array, self.place,
                    self.distance, self.allocated_line, self.bytes, self.block, self.thread,
                    self.index, self.other_line, self.other_block, self.other_thread, self.flags,
                    self.detail, self.words);
  }
};

/// Adds a row to the file that LAB_REPORT names, if it names one.
inline void write_report(const Report& report) {
  const char* path = std::getenv("LAB_REPORT");
  if (path && *path) append(path, row_of(report));
}

/// The last row of a file, which is what a program said last. Its `kind` is empty if there is none.
inline Report read_report(const std::string& path) {
  std::ifstream file(path);
  Report report{""};
  for (std::string line; std::getline(file, line);) read_row(line, &report);
  return report;
}

}  // namespace cuda_on_cpu
