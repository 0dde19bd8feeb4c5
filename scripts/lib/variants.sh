# shellcheck shell=bash
# Several variants of a step's program, compiled as one: the headers take the compiler ten times as long as the step
# does. Each is in a namespace of its own, and the name that the program is called by decides which of them runs. For
# which_function.sh and for the tests of the bank of wrong programs.

# all_variants FOLDER SOURCE-FILE NAME...: the program's source, from FOLDER/NAME/SOURCE-FILE. Compilers know each variant
# as a file of its name.
all_variants() {
  local folder=$1 source_file=$2 name
  shift 2
  for name in "$@"; do grep '^#include' "$folder/$name/$source_file"; done | awk '!seen[$0]++'
  echo '#include <string>'
  for name in "$@"; do
    printf 'namespace %s {\n#line 1 "%s"\n' "$name" "$name"
    sed 's/^#include.*//' "$folder/$name/$source_file"
    printf '}  // namespace %s\n' "$name"
  done
  cat <<'END'
#line 1 "the choice of a variant"
int main(int argc, char** argv) {
  const std::string path = argv[0], name = path.substr(path.rfind('/') + 1);
END
  for name in "$@"; do printf '  if (name == "%s") return %s::main(argc, argv);\n' "$name" "$name"; done
  printf '  return 2;\n}\n'
}
