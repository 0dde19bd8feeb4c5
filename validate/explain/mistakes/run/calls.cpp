// Host code, calls and launches that are wrong, as a look at every access, or CUDA, reports them.

#include <cstdlib>
#include <regex>
#include <string>

#include "explain/mistakes/families.h"
#include "explain/mistakes/run/found.h"
#include "run/steps.h"
#include "run/text.h"
#include "source/source_code.h"

namespace validate {
namespace {

/// The function that allocates memory for a pointer that it was given by value: what it stores there
/// is its own copy's. "": there is none.
std::string allocates_by_value(const std::string& source) {
  static const std::regex memory(R"(cudaMalloc\w*\((?:\(void\*\*\))?&(\w+),)");
  for (const Function& function : functions_in(source)) {
    const std::string code = code_of(function, source), head = code.substr(0, code.find('{'));
    for (std::sregex_iterator at(code.begin(), code.end(), memory), end; at != end; ++at) {
      const std::regex by_value("(float|double)\\*" + (*at)[1].str() + "\\b");
      if (std::regex_search(head, by_value)) return function.name;
    }
  }
  return "";
}

/// The host or a kernel accesses memory through a null pointer.
Answer null_pointer(const Found& found) {
  const int line = found.report.line;
  std::string name = array_at(found.source, line, found.report.access == "writes");
  static const std::regex followed(R"((^|[^\w)\]])\*(\w+((\.|->)\w+)*))");  // *sum, *pass.sum
  const std::string code = code_at(found.source, line);
  std::smatch pointer;
  if (name.empty() && std::regex_search(code, pointer, followed)) name = pointer.str(2);
  if (name.empty()) name = found.scene.array;
  // An array in shared memory is never null: it is another pointer of that line.
  if (std::regex_search(found.source, std::regex("__shared__[^;]*\\b" + name + "\\["))) name = "";
  // What the kernel was given may be an element of an array of pointers.
  std::string argument;
  for (const Queued& work : queued_in(found.source)) {
    for (const std::string& one : work.arguments) {
      const bool element = work.launch && says(one, "[") && work.call == found.scene.function;
      if (element) argument = format("%s at line %d", one.c_str(), work.line);
    }
  }
  return found.answer("pointer_without_memory")
      .with("argument", argument)
      .with("name", name.empty() ? "a pointer" : name)
      .with("by_value", allocates_by_value(found.source))
      .with("given", says(code_only(found.source), "nullptr"))
      .with("other", name.empty() || name.find_first_of(".>") != std::string::npos ||
                         found.evidence.patient.names.count("allocate_fields") == 0);
}

/// Host code that accesses what lies beside an allocation, or what only the GPU can reach.
Answer host_access(const Found& found) {
  const Report& report = found.report;
  if (report.has("variable")) return found.answer("host_access_to_a_device_variable");
  const std::string code = code_at(found.source, report.line);
  static const std::regex frees(R"((delete(?:\[\])?|\bfree)\(?(\w+))");
  if (std::smatch freed; report.bytes > 0 && std::regex_search(code, freed, frees)) {
    return found.answer("freed_by_another_call")
        .with("call", freed.str(1))
        .with("of_cuda", true)
        .with("name", freed.str(2));
  }
  if (report.place == "null") return null_pointer(found);
  if (report.place == "nowhere") {
    return found.answer("access_where_nothing_is").with("copy", says(code, "cudaMemcpy"));
  }
  if (report.bytes == 0) return {};
  Answer answer = found.answer("host_access_to_gpu_memory");
  answer.with("allocated", report.allocated_line);
  if (report.has("device")) {
    return answer.with("managed", says(found.source, "cudaMallocManaged"));
  }
  if (const Answer few = few_bytes(report, found.n); few.known()) return few;
  if (found.finding.where().empty()) return {};
  answer.rule = "host_access_outside_of_an_array";
  return answer.with("where", found.finding.where())
      .with("few", report.bytes < static_cast<long>(sizeof(float)) * found.n * found.n)
      .with("far", report.place == "past" && report.distance >= report.bytes)
      .with("idx", found.evidence.patient.names.count("idx") > 0);
}

/// The function that a call's text names first: "cudaMemset" of "cudaMemset(&sum, 0, 8)".
std::string called_in(const Report& report) {
  return report.array.substr(0, report.array.find('('));
}

/// Whether it is a __device__ variable.
bool is_of_device(const Found& found, const std::string& variable) {
  const std::regex declared("__device__[^;({]*\\b" + variable + "\\b");
  return std::regex_search(found.source, declared);
}

/// A call that gets `argument`, a pointer to no memory of the GPU's or with & its own address.
Answer no_gpu_memory(const Found& found, const std::string& argument) {
  const bool address = argument[0] == '&';
  const std::string variable = argument.substr(address);
  return found.answer("no_gpu_memory_for_a_call")
      .with("call", called_in(found.report))
      .with("variable", variable)
      .with("of_device", is_of_device(found, variable))
      .with("address", address);
}

/// A fill of what is no memory of the GPU's: "cudaMemset(&sum, 0, ...)".
Answer fill_of_nothing(const Found& found) {
  const std::string filled = between(found.report.array, "(", ",");
  static const std::regex pointer(R"(&?\w+)");
  return std::regex_match(filled, pointer) ? no_gpu_memory(found, filled) : Answer();
}

/// The argument of a call that is a pointer's own address, in place of what it points to: "&sum" of
/// cudaMemcpy(&host_sum, &sum, 8, ...); "": none.
std::string own_address(const Found& found) {
  static const std::regex address(R"(&(\w+))");
  const std::string code = code_only(found.source), &call = found.report.array;
  for (std::sregex_iterator at(call.begin(), call.end(), address), end; at != end; ++at) {
    const std::string name = (*at)[1];
    if (std::regex_search(code, std::regex("(float|double)\\*" + name + "\\b")) ||
        is_of_device(found, name)) {
      return "&" + name;
    }
  }
  return "";
}

/// Of a copy: the argument that moves a float* by a number of bytes: "f_old + idx(0, j, n) *
/// sizeof(float)"; "": none does.
std::string moved_by_bytes(const Found& found) {
  for (const Queued& work : queued_in(found.source)) {
    if (work.launch || work.line != found.report.line || work.arguments.size() < 3) continue;
    for (int k : {0, 1}) {
      const std::string& pointer = work.arguments[k];
      const bool moved = says(pointer, "*sizeof(float)") || says(pointer, "sizeof(float)*");
      if (moved && !says(pointer, "(char*)") && !says(pointer, "<char*>")) {
        return pointer;
      }
    }
  }
  return "";
}

/// The line of the launch whose error cudaGetLastError() returns: the last launch before it in the
/// function. "": another call returned the error, or there is no launch in its function.
std::string launch_asked_for(const Found& found) {
  const Function function = function_at(found.source, found.report.line);
  std::string line;
  for (const Queued& each : queued_in(found.source)) {
    const bool before = each.line >= function.first_line && each.line <= found.report.line;
    if (each.launch && before) line = std::to_string(each.line);
  }
  return called_in(found.report) == "cudaGetLastError" && !function.name.empty() ? line : "";
}

/// What a call, or a launch, is refused for.
Answer refused_call(const Found& found) {
  const Report& report = found.report;
  const std::string call = called_in(report);
  if (report.has("cudaErrorInvalidPitchValue") && !report.detail.empty()) {
    return found.answer("rows_longer_than_a_pitch");
  }
  if (report.kind == "capture") {
    return found
        .answer(says(call, "Synchronize") ? "waits_in_a_capture" : "default_stream_in_a_capture")
        .with("call", call);
  }
  if (report.has("cudaErrorInvalidConfiguration")) {
    return found.answer("impossible_launch")
        .with("unasked", call != "cudaGetLastError")
        .with("launched", launch_asked_for(found))
        .with("below_zero", says(report.detail, "as an int"));
  }
  if (says(report.detail, "destroyed already")) {
    const std::string arguments = between(report.array, "(", ")");
    const int before = std::atoi(report.detail.substr(report.detail.rfind(':') + 1).c_str());
    return found.answer("graph_was_destroyed")
        .with("what", arguments.substr(0, arguments.find(',')))
        .with("verb", call == "cudaGraphLaunch" ? "launches"
                      : says(call, "Destroy")   ? "destroys"
                                                : "uses")
        .with("before", before == report.line ? "" : std::to_string(before));
  }
  if (says(report.detail, "there is no") || says(report.detail, "a null event")) {
    static const std::regex by_value(R"(for\s*\(\s*(const )?\w+ \w+ ?:)");
    const std::vector<std::string> lines = code_lines(found.source);
    const auto copy = std::find_if(lines.begin(), lines.end(), [](const std::string& line) {
      return std::regex_search(line, by_value);
    });
    const std::string arguments = between(report.array, "(", ")");
    return found.answer("nothing_has_created_it")
        .with("what", arguments.substr(0, arguments.find(',')))
        .with("copy", copy == lines.end() ? "" : std::to_string(copy - lines.begin() + 1));
  }
  // A GPU says no more than that.
  const auto refused = [&] {
    return found.answer("something_was_refused").with("launched", launch_asked_for(found));
  };
  const bool last = call == "cudaGetLastError", fills = call.rfind("cudaMemset", 0) == 0;
  const bool invalid = report.has("cudaErrorInvalidValue");
  if (last && invalid && report.detail.empty()) return refused();
  if (fills && invalid && says(report.array, "(&")) {
    return fill_of_nothing(found);
  }
  if (const std::string moved = moved_by_bytes(found); !moved.empty()) {
    return found.answer("pointer_is_moved_by_bytes").with("pointer", moved);
  }
  const std::string own =
      call.rfind("cudaMemcpy", 0) == 0 || call == "cudaFree" ? own_address(found) : "";
  if (!own.empty()) return no_gpu_memory(found, own);
  if (call == "cudaFree" && says(report.detail, "nothing was allocated")) {
    return found.answer("freed_by_another_call")
        .with("call", call)
        .with("name", between(report.array, "(", ")"));
  }
  if (report.kind != "direction" && report.kind != "host_memory") return {};
  if (last) return refused();
  return fills ? fill_of_nothing(found) : found.answer("copy_against_its_direction");
}

}  // namespace

Answer few_bytes(const Report& given, int n, bool padded) {
  if (given.allocated_line <= 0 || given.bytes <= 0) return {};
  const long row = static_cast<long>(sizeof(float)) * n, field = row * n;
  Answer answer("too_few_bytes_are_allocated");
  answer.with("line", given.allocated_line).with("bytes", given.bytes).with("field", field);
  if (given.bytes == static_cast<long>(n) * n) return answer.with("points", true);
  if (given.bytes == row) return answer.with("row", true);
  const bool has_padding = padded && n % 32 != 0;
  if (has_padding && given.bytes == field) return answer.with("padding", true);
  if (given.bytes < field && !is_no_field(given, n)) return answer;
  if (given.bytes == static_cast<long>(sizeof(float))) {
    answer.rule = "sum_is_allocated_as_a_float";
    return answer;
  }
  return {};
}

Answer answer_of_call(const Found& found) {
  const Report& report = found.report;
  if (report.kind == "host_access") return host_access(found);
  if (report.kind == "out_of_bounds" && report.place == "null") return null_pointer(found);
  if (report.kind == "out_of_bounds" && report.place == "nowhere") {
    return found.answer("access_where_nothing_is").with("kernel", true);
  }
  if (report.kind == "dynamic_shared") {
    return found.answer("too_little_dynamic_shared_memory")
        .with("given",
              report.bytes > 0 ? format("only %ld bytes of it", report.bytes) : "none of it");
  }
  if (report.kind == "room" && moved_by_bytes(found).empty()) {
    return found.answer("more_bytes_than_there_is_room")
        .with("rows", called_in(report).rfind("cudaMemcpy2D", 0) == 0)
        .with("allocated", report.allocated_line > 0 ? std::to_string(report.allocated_line) : "");
  }
  if (report.kind == "host_argument") {
    return found.answer("host_memory_for_a_kernel").with("argument", report.array);
  }
  return refused_call(found);
}

// clang-format off
const Family kCallMistakes = {
    {"too_few_bytes_are_allocated", kForbidden, kAnyProgram, finding,
     "line {line} allocates {?points|n * n bytes; n * n floats need four times as many|{bytes} bytes{?row|, as many as "
     "n floats need|}; {?padding|n * n floats need as many, but the rows are padded and need more|n * n floats need "
     "{field}}}",
     {"how many bytes line {line} asks for: {?padding|idx(0, n, n) * sizeof(float), n rows of one pitch each; and idx, "
      "which counts a row as one pitch, too|std::size_t(n) * n * sizeof(float)}"}},
    {"sum_is_allocated_as_a_float", kForbidden, kAnyProgram, finding,
     "line {line} allocates 4 bytes, as many as a float has; a double has 8",
     {"how many bytes line {line} asks for: sizeof(double) for the sum"}},
    {"pointer_without_memory", kForbidden, kAnyProgram, finding,
     "line {line} {does} memory through {name}, which is null: nothing was allocated for that "
     "pointer, or something has set it to null",
     {"{?argument|the index in {argument}: it may lead beyond the array of pointers}",
      "{?by_value|{by_value}: it is given the pointer, and sets only its own copy. It needs the pointer's address: "
      "float** there, and an & where it is called|{?other|the call that gives it memory: it sets this pointer, not "
      "another one, and not a copy of it (in a function that gets the pointer, or a struct with it, by "
      "value)|allocate_fields: one cudaMallocManaged (or "
      "cudaMalloc) for each pointer of main. Its first argument is the address of main's pointer, which is what "
      "allocate_fields gets: not once more with an &}}",
      "{?given|where nullptr is put in its place: what depends on it must not come to line {line} then}"}},
    {"access_where_nothing_is", kForbidden, kAnyProgram, finding,
     "line {line} {does} memory {?!kernel|of the host }where nothing was allocated",
     {"{?kernel|the index at line {line}, and the pointer that it is added to: together they lead to where no array "
      "is|{?copy|the copy's number of bytes: if run.finish asks for `rows` rows, `to` has room for as many, and no "
      "more; and its pointers: `to` already is the place of row j, so only the field's pointer is moved by idx(0, j, "
      "n)|the pointer at line {line}: what it was set to (cudaMalloc stores an address where its first argument "
      "points: at main's own pointer?), and its index}}"}},
    {"host_access_to_gpu_memory", kForbidden, kAnyProgram, finding,
     "at line {line} the host {does} {?array|{array}|memory}, which is in the GPU's own memory (cudaMalloc): only "
     "kernels and copies reach it",
     {"{?managed|line {allocated}: cudaMallocManaged gives memory that both can use|what can do it instead of the "
      "host: a kernel that writes the values; or, for what the host needs, cudaMemcpy to memory of its own "
      "(cudaMemcpyDeviceToHost)}"}},
    {"graph_was_destroyed", kForbidden, kAnyProgram, finding,
     "line {line} {verb} {what}, which was destroyed before{?before|, at line "
     "{before}|: two variables hold the same one}",
     {"{?before|line {before}: when a pass is made the cudaGraph_t alone is destroyed. The cudaGraphExec_t made of it "
      "is launched until the end|where they are created: each {?passes|check|pass} in flight needs {?graph|a graph, "
      "}an event and a place for its sum of its own, and a copy (a = b) has those of the other. std::swap exchanges "
      "them}"}},
    {"nothing_has_created_it", kForbidden, kAnyProgram, finding,
     "line {line} uses {what}, which nothing has created",
     {"{?copy|line {copy}: this loop goes over copies, and what it creates is in them. With an & after the type it "
      "goes over the variables themselves}",
      "where {what} is created: before it is used, in the same variable, and also if the loop of main performs no turn "
      "(it begins with an infinite residual, and goes on while residual > options.tolerance)"}},
    {"host_access_to_a_device_variable", kForbidden, kAnyProgram, finding,
     "at line {line} the host {does} a __device__ variable, which is in the GPU's memory: only kernels and copies "
     "reach it. What the host has under that name is another variable",
     {"cudaMemcpyFromSymbol(&value, variable, sizeof value) to read it, cudaMemcpyToSymbol to set it; or, in its "
      "place, memory of cudaMallocManaged"}},
    {"host_access_outside_of_an_array", kForbidden, kAnyProgram, finding,
     "at line {line} the host {does} {where} {?array|{array}|memory}",
     {"{?few|{?allocated|how many bytes line {allocated} asks for: as many as n * n floats need}}",
      "{?far|where that pointer begins: what is added to a float* counts floats, not bytes}",
      "the index at line {line}, and where the loops around it begin and end: points go from 0 to n - 1{?idx|; and "
      "idx itself, which goes from 0 up, each point to a place of its own}",
      "{?!few|{?allocated|whether line {allocated} allocates enough for all fields that it holds, and for the padding "
      "of their rows}}"}},
    {"too_little_dynamic_shared_memory", kForbidden, kAnyProgram, finding,
     "line {line} uses more dynamic shared memory (extern __shared__) than the launch gives: {given}",
     {"the third value in <<<grid, block, bytes>>>: the number of entries times the bytes of one, 4 for a float and 8 "
      "for a double{?tile|; a tile has entries for a block's points and their halo}",
      "the index at line {line}, if the bytes are right: a tree over a block's threads begins with half of them"}},
    {"sum_by_value", kForbidden, kAnyProgram, finding,
     "line {line} adds to a variable that each thread has for itself: what the threads add goes nowhere else",
     {"how the sum gets there: by its address (double* sum), through every function on the way. A parameter by value "
      "(double sum) is a copy, and so is double own = *sum"}},
    {"copy_to_an_ended_variable", kForbidden, kAnyProgram, finding,
     "a graph copies to a local variable (line {line}), and is launched when the function of that variable has "
     "returned: the variable is gone",
     {"where the host's sum of a pass is: memory that stays until the last launch has ended, as that of "
      "cudaMallocHost, one place for each pass in flight"}},
    {"more_bytes_than_there_is_room", kForbidden, kAnyProgram, finding,
     "line {line} copies or fills more than there is room for: {detail}",
     {"{?slabs|where the rows begin: row j of the field is row j - held_begin of what the rank holds}",
      "{?rows|{order_of_rows}|the number of bytes at line {line}: a float has sizeof(float), and a field n * n of "
      "them; the sum is one double; and where they begin, at both ends}",
      "{?allocated|how many bytes line {allocated} allocates}"}},
    {"rows_longer_than_a_pitch", kForbidden, kAnyProgram, finding,
     "at line {line} the rows that are copied are longer than a pitch: {detail}",
     {"idx, where the pitch is computed from n: rounded up, never down, so that a row fits",
      "{order_of_rows}"}},
    {"waits_in_a_capture", kForbidden, kAnyProgram, finding,
     "line {line} waits while a stream is captured: work that is captured is recorded and does not run, so there is "
     "nothing to wait for",
     {"{call} at line {line}: it belongs after the launch of the graph"}},
    {"default_stream_in_a_capture", kForbidden, kAnyProgram, finding,
     "what line {line} asks for goes to the default stream while another is captured",
     {"each launch, fill and copy that is captured: kernel<<<grid, block, 0, stream>>>, cudaMemsetAsync and "
      "cudaMemcpyAsync with the stream as the last argument"}},
    {"impossible_launch", kForbidden, kAnyProgram, finding,
     "the launch {?launched|at line {launched}|before line {line}} was refused: {?!detail|no GPU has such a block or "
     "launch grid|{detail}}",
     {"{?below_zero|where a number of blocks or threads is computed: a difference that comes out below 0|"
      "{sizes_of_launch}}",
      "{?!below_zero|{order_of_launch}}",
      "{?unasked|CUDA_CHECK(cudaGetLastError()) right after each launch, which reports it at once}"}},
    {"something_was_refused", kForbidden, kAnyProgram, finding,
     "the launch {?launched|at line {launched}|before line {line}} was refused, or an earlier call failed and was not "
     "checked",
     {"{order_of_launch}", "{sizes_of_launch}",
      "each call before that line: the CUDA_CHECK around it, which reports its error; and its arguments: a pointer "
      "that cudaMalloc or cudaMallocManaged gave, not the address of that pointer"}},
    {"no_gpu_memory_for_a_call", kForbidden, kAnyProgram, finding,
     "at line {line} {call} gets {?address|&{variable}, {?of_device|which in host code is no address on the GPU|the "
     "address of a variable of the host, and not of memory on the GPU}|{variable}, which points to no memory of the "
     "GPU}",
     {"{?of_device|cudaMemcpyToSymbol and cudaMemcpyFromSymbol: they copy to and from a __device__ variable such as "
      "{variable}; and cudaGetSymbolAddress, which gives its address for other calls|{?address|{variable} holds the "
      "address that cudaMalloc gave: it is the argument, without the &|the call that gives {variable} its memory, "
      "before that line: cudaMalloc(&{variable}, ...); or *{variable}, if it is the address of a pointer}}"}},
    {"host_memory_for_a_kernel", kForbidden, kAnyProgram, finding,
     "the launch at line {line} gives the kernel an address at which it has no memory: {argument}",
     {"what that argument points to: cudaMalloc or cudaMallocManaged gives memory that a kernel can use; malloc, "
      "new, a vector and a variable of the host do not",
      "what is added to a field's pointer: a number of floats, as idx gives it, and not of bytes"}},
    {"freed_by_another_call", kForbidden, kAnyProgram, finding,
     "line {line} gives {call} memory that {?of_cuda|a|no} call of CUDA has given: {name}",
     {"how {name} gets its memory: what new or malloc gives, delete[] or free takes back; what cudaMallocManaged (or "
      "cudaMalloc) gives, cudaFree; each once{?!of_cuda|; and whether something is assigned to {name} after "
      "cudaMallocManaged (or cudaMalloc)}"}},
    {"pointer_is_moved_by_bytes", kForbidden, kAnyProgram, finding,
     "line {line} moves a pointer to floats by a number of bytes: {pointer}",
     {"what is added to that pointer: a number of floats, as idx gives it, without sizeof(float). Only the number of "
      "bytes to copy has it"}},
    {"copy_against_its_direction", kForbidden, kAnyProgram, finding,
     "at line {line} the two pointers and the direction do not match",
     {"the order: first the destination, then the source; and the direction, cudaMemcpyDeviceToHost if the destination "
      "is the host's"}},
};
// clang-format on

}  // namespace validate
