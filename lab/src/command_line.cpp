#include <lab/command_line.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <utility>

#include <lab/exit_codes.h>

namespace lab {

constexpr int kMaxSeconds = 86400;

long long CommandLine::read_integer(const std::string& before, const std::string& text,
                                    long long low, long long high) {
  char* end = nullptr;
  errno = 0;
  const long long value = std::strtoll(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || errno == ERANGE || value < low || value > high) {
    fail(kExitBadUsage, "%s%s: must be a whole number from %lld to %lld", before.c_str(),
         text.c_str(), low, high);
  }
  return value;
}

CommandLine::CommandLine(const char* program, std::string help) : help_(std::move(help)) {
  set_program_name(program);
}

void CommandLine::flag(const std::string& option, bool* given) {
  options_[option] = {false, [=](const std::string&) { *given = true; }};
}

void CommandLine::text(const std::string& option, std::string* value) {
  this->value(option, [=](const std::string& text) { *value = text; });
}

void CommandLine::integer(const std::string& option, int low, int high, int* value) {
  this->value(option, [=](const std::string& text) {
    *value = static_cast<int>(read_integer(option + " ", text, low, high));
  });
}

void CommandLine::integers(const std::string& option, int low, int high, std::vector<int>* values) {
  list(option, [=](const std::string& text) {
    values->push_back(static_cast<int>(read_integer(option + " ", text, low, high)));
  });
}

void CommandLine::seconds(const std::string& option, double* value) {
  this->value(option, [=](const std::string& text) {
    char* end = nullptr;
    const double seconds = std::strtod(text.c_str(), &end);
    // Written so that NaN is refused, too.
    if (*end != '\0' || !(seconds >= 1 && seconds <= kMaxSeconds)) {
      fail(kExitBadUsage, "%s %s: must be a number of seconds from 1 to %d", option.c_str(),
           text.c_str(), kMaxSeconds);
    }
    *value = seconds;
  });
}

void CommandLine::value(const std::string& option,
                        std::function<void(const std::string& value)> use) {
  options_[option] = {true, std::move(use)};
}

void CommandLine::list(const std::string& option,
                       std::function<void(const std::string& value)> use) {
  value(option, [=](const std::string& text) {
    std::istringstream values(text);
    for (std::string one; std::getline(values, one, ',');) use(one);
  });
}

void CommandLine::read(int argc, char** argv, std::string* program) const {
  for (int k = 1; k < argc; ++k) {
    const std::string word = argv[k];
    if (word == "--help") {
      std::fputs(help_.c_str(), stdout);
      std::exit(0);
    }
    const std::size_t equals = options_.count(word) ? word.npos : word.find('=');
    const auto option = options_.find(word.substr(0, equals));
    if (option != options_.end()) {
      const auto& [name, how] = *option;
      const bool joined = equals != word.npos;
      if (joined && !how.takes_value) fail(kExitBadUsage, "%s: takes no value", name.c_str());
      std::string value = joined ? word.substr(equals + 1) : "";
      if (how.takes_value && !joined && k + 1 < argc) value = argv[++k];
      if (how.takes_value && value.empty()) {
        fail(kExitBadUsage, "%s: needs a value (see --help)", name.c_str());
      }
      how.use(value);
    } else if (!program || word.rfind('-', 0) == 0) {
      fail(kExitBadUsage, "%s: no such option (see --help)", word.c_str());
    } else if (!program->empty()) {
      fail(kExitBadUsage, "one program at a time, not %s and %s", program->c_str(), word.c_str());
    } else {
      *program = word;
    }
  }
  if (!program) return;
  if (program->empty()) fail(kExitBadUsage, "which program? (see --help)");
  if (program->find('/') == std::string::npos) *program = "./" + *program;
}

}  // namespace lab
