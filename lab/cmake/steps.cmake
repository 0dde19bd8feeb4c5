# Reads lab/steps.tsv, the one list of steps, into LAB_STEPS and
# LAB_STEP_<name>_{SOURCE,NEEDS,BEFORE}, and defines lab_add_step(). The kernels of the clinic are built as steps
# are: lab/clinic.tsv gives LAB_CLINIC, a list of names such as clinic/transpose.

set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS lab/steps.tsv lab/clinic.tsv)
file(STRINGS lab/steps.tsv lines REGEX "^[0-9]")
foreach(line IN LISTS lines)
  string(REPLACE "\t" ";" fields "${line}")
  list(GET fields 0 step)
  list(APPEND LAB_STEPS ${step})
  list(GET fields 1 LAB_STEP_${step}_SOURCE)
  list(GET fields 2 LAB_STEP_${step}_NEEDS)
  list(GET fields 6 LAB_STEP_${step}_BEFORE)
endforeach()

file(STRINGS lab/clinic.tsv lines REGEX "^[a-z]")
list(TRANSFORM lines REPLACE "^([a-z_]+)\t.*" "clinic/\\1" OUTPUT_VARIABLE LAB_CLINIC)
foreach(kernel IN LISTS LAB_CLINIC)
  set(LAB_STEP_${kernel}_SOURCE kernel.cu)
  set(LAB_STEP_${kernel}_NEEDS cuda)
endforeach()

# lab_add_step(solution|exercise NN_name|clinic/name): the programs of one step, where this machine can build them:
# for the GPU and, if it needs one, for the CPU in its place.
function(lab_add_step kind step)
  string(REPLACE "/" "_" target ${kind}_${step})
  set(source ${CMAKE_CURRENT_SOURCE_DIR}/${kind}s/${step}/${LAB_STEP_${step}_SOURCE})
  if(NOT EXISTS ${source})
    return()  # a handout has no solutions; a test sees to it that nothing else is missing
  endif()
  set(needs ${LAB_STEP_${step}_NEEDS})  # ranks: CUDA for each of them
  if(needs STREQUAL "ranks" AND NOT LAB_HAVE_MPI)
    return()
  endif()
  # What the file holds decides whether it is built, not its date.
  cmake_path(GET source PARENT_PATH folder)
  set(stamp ${CMAKE_BINARY_DIR}/content/${target})
  add_custom_target(${target}_content
    COMMAND ${CMAKE_COMMAND} -DSOURCE=${source} -DSTAMP=${stamp} -P ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/content_stamp.cmake
    BYPRODUCTS ${stamp} VERBATIM)
  # What the check runs beside it: on the CPU, and on a GPU.
  set(judges validate goals ${target}_cpu)
  set(before solution_${LAB_STEP_${step}_BEFORE})
  if(NOT TARGET ${before})
    set(before exercise_${LAB_STEP_${step}_BEFORE})  # a handout
  endif()
  set(beside lab_trace bandwidth ${before})
  if(step MATCHES "^clinic/")
    set(judges clinic)
    set(beside)
  endif()
  if(NOT needs STREQUAL "cpu")
    lab_add_step_on_cpu(${target} ${step} ${source} ${stamp} ${target}_content)
    if(kind STREQUAL "exercise" AND NOT step MATCHES "^clinic/")
      # Variants of the learner's program, which scripts/lib/which_function.sh writes.
      lab_add_step_on_cpu(swapped_${step} ${step} ${CMAKE_BINARY_DIR}/content/swapped_${step}_${LAB_STEP_${step}_SOURCE})
    endif()
    lab_add_check(${target}_cpu ${judges} ${target}_cpu_watched)
    if(NOT LAB_HAVE_CUDA)
      return()
    endif()
  endif()

  # An exercise is built when its learner asks: until then it is the solution before it.
  set(on_demand)
  if(kind STREQUAL "exercise" OR step MATCHES "^clinic/")
    set(on_demand EXCLUDE_FROM_ALL)
  endif()
  add_executable(${target} ${on_demand} ${source})
  add_dependencies(${target} ${target}_content)
  set_property(SOURCE ${source} APPEND PROPERTY OBJECT_DEPENDS ${stamp})
  target_compile_definitions(${target} PRIVATE LAB_STEP_NAME="${step}")
  target_link_libraries(${target} PRIVATE lab lab_warnings lab_nvtx)
  if(needs STREQUAL "ranks")
    target_link_libraries(${target} PRIVATE lab_ranks)
  endif()
  if(NOT needs STREQUAL "cpu")
    target_link_libraries(${target} PRIVATE CUDA::cudart_static)
    # -lineinfo: profilers and compute-sanitizer name source lines. It costs no time. The others save nvcc a fifth of its
    # time: two threads for host and device, and without CUB's headers for types that no step uses.
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-lineinfo -t2>)
    target_compile_definitions(${target} PRIVATE CCCL_DISABLE_FP16_SUPPORT CCCL_DISABLE_BF16_SUPPORT)
  endif()
  if(NOT step MATCHES "^clinic/")
    add_dependencies(${kind}s ${target})
  endif()
  set_property(GLOBAL APPEND PROPERTY LAB_STEP_TARGETS ${target})
  lab_add_check(${target}_beside ${judges} ${target}_cpu_watched ${beside})
  # The file says so: the check begins while nvcc still compiles.
  add_custom_command(TARGET check_${target}_beside POST_BUILD COMMAND ${CMAKE_COMMAND} -E touch ${stamp}.beside VERBATIM)
  lab_add_check(${target} ${target} check_${target}_beside)
endfunction()

# lab_add_check(PROGRAM TARGET...): check_PROGRAM, all that `make check` needs, as one target: make builds several targets
# one after another, and side by side only what one of them depends on.
function(lab_add_check program)
  add_custom_target(check_${program})
  foreach(target IN LISTS ARGN)
    if(TARGET ${target})
      add_dependencies(check_${program} ${target})
    endif()
  endforeach()
endfunction()

# The same step by a plain C++ compiler (lab/cpu): TARGET_cpu, and on demand TARGET_cpu_watched, which
# finds races and counts. ARGN: what else they depend on.
function(lab_add_step_on_cpu name step source)
  set(target ${name}_cpu)
  cuda_on_cpu_add_executable(${target} ${source} ${ARGN})
  set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
  foreach(variant "" _watched)
    target_compile_definitions(${target}${variant} PRIVATE LAB_STEP_NAME="${step}")
    if(LAB_STEP_${step}_NEEDS STREQUAL "ranks")
      target_link_libraries(${target}${variant} PRIVATE lab_ranks_on_cpu${variant})
    endif()
    target_link_libraries(${target}${variant} PRIVATE lab lab_warnings)
    if(name MATCHES "^(exercise|solution)")
      set_property(GLOBAL APPEND PROPERTY LAB_STEP_TARGETS ${target}${variant})
    endif()
  endforeach()
  if(NOT step MATCHES "^clinic/" AND name MATCHES "^(exercise|solution)")
    add_dependencies(${CMAKE_MATCH_1}s_on_cpu ${target})
  endif()
endfunction()
