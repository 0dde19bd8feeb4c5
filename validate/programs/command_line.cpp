#include "programs/command_line.h"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <new>
#include <utility>

#include <lab/exit_codes.h>

#include "run/child.h"
#include "run/steps.h"

namespace validate {
namespace {

constexpr int kMaxSeconds = 86400;

int parse_integer(const std::string& option, const std::string& text, int low, int high) {
  char* end = nullptr;
  // What is too large for a long becomes the largest long, which is refused.
  const long value = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || value < low || value > high) {
    lab::fail(lab::kExitBadUsage, "%s %s: must be a whole number from %d to %d", option.c_str(),
              text.c_str(), low, high);
  }
  return static_cast<int>(value);
}

}  // namespace

CommandLine::CommandLine(const char* program, const char* help) : help_(help) {
  lab::set_program_name(program);
}

void CommandLine::flag(const std::string& option, bool* given) {
  options_[option] = {false, [=](const std::string&) { *given = true; }};
}

void CommandLine::text(const std::string& option, std::string* value) {
  this->value(option, [=](const std::string& text) { *value = text; });
}

void CommandLine::path(const std::string& option, std::string* value) {
  this->value(option, [=](const std::string& text) {
    if (text.empty()) {
      lab::fail(lab::kExitBadUsage, "%s: needs a value (see --help)", option.c_str());
    }
    *value = text;
  });
}

void CommandLine::integer(const std::string& option, int low, int high, int* value) {
  this->value(option,
              [=](const std::string& text) { *value = parse_integer(option, text, low, high); });
}

void CommandLine::integers(const std::string& option, int low, int high, const std::string& each,
                           std::vector<int>* values) {
  list(option, each,
       [=](const std::string& text) { values->push_back(parse_integer(option, text, low, high)); });
}

void CommandLine::seconds(const std::string& option, double* value) {
  this->value(option, [=](const std::string& text) {
    char* end = nullptr;
    const double seconds = std::strtod(text.c_str(), &end);
    // Written so that NaN is refused, too.
    if (text.empty() || *end != '\0' || !(seconds >= 1 && seconds <= kMaxSeconds)) {
      lab::fail(lab::kExitBadUsage, "%s %s: must be a number of seconds from 1 to %d",
                option.c_str(), text.c_str(), kMaxSeconds);
    }
    *value = seconds;
  });
}

void CommandLine::value(const std::string& option,
                        std::function<void(const std::string& value)> use) {
  options_[option] = {true, std::move(use)};
}

void CommandLine::list(const std::string& option, const std::string& each,
                       std::function<void(const std::string& value)> use) {
  value(option, [=](const std::string& text) {
    const std::vector<std::string> values = split(text, ',');
    if (values.empty()) {
      lab::fail(lab::kExitBadUsage, "%s: needs at least one %s", option.c_str(), each.c_str());
    }
    for (const std::string& each_value : values) use(each_value);
  });
}

void CommandLine::read(int argc, char** argv, std::string* program) const {
  for (int k = 1; k < argc; ++k) {
    const std::string word = argv[k];
    if (word == "--help") {
      std::fputs(help_, stdout);
      std::exit(0);
    }
    const auto option = options_.find(word);
    if (option != options_.end()) {
      if (option->second.takes_value && k + 1 >= argc) {
        lab::fail(lab::kExitBadUsage, "%s: needs a value (see --help)", word.c_str());
      }
      option->second.use(option->second.takes_value ? argv[++k] : "");
    } else if (!program || word.rfind('-', 0) == 0) {
      lab::fail(lab::kExitBadUsage, "%s: no such option (see --help)", word.c_str());
    } else if (!program->empty()) {
      lab::fail(lab::kExitBadUsage, "one program at a time, not %s and %s", program->c_str(),
                word.c_str());
    } else {
      *program = word;
    }
  }
  if (!program) return;
  if (program->empty()) lab::fail(lab::kExitBadUsage, "which program? (see --help)");
  if (program->find('/') == std::string::npos) *program = "./" + *program;
}

void write_verdict(const std::string& file, const std::string& verdict) {
  if (file.empty()) return;
  std::ofstream out(file);
  if (!(out << verdict << std::endl)) {
    lab::fail(lab::kExitCannotWrite, "%s: cannot be written", file.c_str());
  }
}

int run_to_exit_code(const char* program, const std::function<int()>& body,
                     const std::function<void()>& interrupted) {
  catch_interrupts();
  try {
    return body();
  } catch (const Interrupted& signalled) {
    std::fprintf(stderr, "\n%s: interrupted\n", program);
    interrupted();
    return 128 + signalled.signal;
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "%s: the reference does not fit in memory: take a smaller n\n", program);
    return lab::kExitDoesNotFit;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", program, error.what());
    return lab::kExitBadUsage;
  }
}

}  // namespace validate
