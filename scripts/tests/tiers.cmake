# The one place that decides which tests `make test` runs (label `quick`), which only `make test-all` does (label `full`),
# and which programs each of the two needs. A test is quick unless this list names it.
set(lab_full_tests
  # Every access of every solution, in three orders of threads and blocks; the counters.
  races_.* every_order_.* goals_of_steps counters
  # The banks. (One patch of each entry of the catalogue is quick: catalogue_NN.)
  wrong_.* right_.* clinic
  # CUDA on the CPU by itself, with two compilers.
  cuda_on_cpu_.*
  # A class, handouts, predictions and puzzles from start to end; ladders and scaling with many ranks.
  class verbs_handout verbs_predict verbs_puzzle ladder_ranks scaling experiments
  # Programs, jobs and machines that go wrong in ways of their own.
  faults ranks shared_state check_on_gpu
  # The shape of all code, the site, profilers; fuzzing, whole builds, other build tools, nvcc.
  format shellcheck site profilers fuzz_record without_nvcc check_with_make check_with_nvcc architectures
  # Times on the board of progress; what is written into texts of other tables.
  progress_times tables)
# What needs a GPU is quick if there is one. Without one, it would only report that it is skipped.
set(LAB_HAVE_GPU FALSE)
if(EXISTS /dev/nvidiactl)
  set(LAB_HAVE_GPU TRUE)
else()
  list(APPEND lab_full_tests validate_.*_on_gpu no_gpu bandwidth)
endif()
list(JOIN lab_full_tests "|" lab_full_tests)
add_custom_target(tests_quick)
add_custom_target(tests_full)
add_dependencies(tests_full tests_quick)

# lab_tier(NAME tier properties): sets them to quick or full, and to what makes CTest treat the test NAME so.
function(lab_tier name tier properties)
  set(label quick)
  if(name MATCHES "^(${lab_full_tests})$")
    set(label full)
  endif()
  set(${tier} ${label} PARENT_SCOPE)
  set(${properties} LABELS ${label} FIXTURES_REQUIRED programs_${label} PARENT_SCOPE)
endfunction()

# lab_test(NAME COMMAND...): add_test in its tier. Exit code 77 says that it cannot run here.
function(lab_test name)
  lab_tier(${name} tier properties)
  add_test(NAME ${name} COMMAND ${ARGN})
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 ${properties})
endfunction()

# lab_skipped_test(NAME WHY): a test that is skipped by its name, rather than silently missing. It needs no build.
function(lab_skipped_test name why)
  lab_test(${name} sh -c "echo 'skipped: ${why}' && exit 77")
  set_tests_properties(${name} PROPERTIES FIXTURES_REQUIRED "")
endfunction()

# lab_unit_tests(TARGET SOURCE...): a program of GoogleTest, and its tests. To compile it takes longer than to run it.
function(lab_unit_tests target)
  lab_tier(${target} tier properties)
  add_executable(${target} EXCLUDE_FROM_ALL ${ARGN})
  target_link_libraries(${target} PRIVATE GTest::gtest_main lab_warnings)
  target_compile_options(${target} PRIVATE -O0)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON)
  gtest_discover_tests(${target} DISCOVERY_TIMEOUT 300 PROPERTIES ${properties})
  lab_built_for_tests(${tier} ${target})
endfunction()

# lab_built_for_tests(quick|full TARGET...): programs and libraries that the tests of that tier need, if this build has
# them. The targets tests_quick and tests_full build them.
function(lab_built_for_tests tier)
  foreach(target IN LISTS ARGN)
    if(TARGET ${target})
      add_dependencies(tests_${tier} ${target})
      set_property(GLOBAL APPEND PROPERTY LAB_BUILT_FOR_${tier} $<TARGET_FILE:${target}>)
    endif()
  endforeach()
endfunction()

# lab_is_built_test(quick|full VERB): the first test of a tier. If it fails, the others do not run: they would report for
# minutes that programs are missing. To be called after all lab_built_for_tests.
function(lab_is_built_test tier verb)
  get_property(files GLOBAL PROPERTY LAB_BUILT_FOR_${tier})
  list(JOIN files "\n" files)
  file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/tests_${tier}.txt CONTENT "${files}\n")
  add_test(NAME programs_${tier} COMMAND sh -c
    "while read -r file; do test -e \"$file\" || { echo \"not built: $file: ${verb} builds it\"; exit 1; }; done <tests_${tier}.txt")
  set_tests_properties(programs_${tier} PROPERTIES
    WORKING_DIRECTORY ${CMAKE_BINARY_DIR} FIXTURES_SETUP programs_${tier} LABELS ${tier})
endfunction()
