# Reads lab/steps.tsv, the one list of steps, into LAB_STEPS and
# LAB_STEP_<name>_{SOURCE,NEEDS,RANKS,N,TITLE}, and defines lab_add_step().

set(LAB_CONTENT_STAMP ${CMAKE_CURRENT_LIST_DIR}/content_stamp.cmake)
set(LAB_STEPS_FILE ${CMAKE_CURRENT_SOURCE_DIR}/lab/steps.tsv)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${LAB_STEPS_FILE})
set(LAB_STEPS)
file(STRINGS ${LAB_STEPS_FILE} lines REGEX "^[0-9]")
foreach(line IN LISTS lines)
  string(REPLACE "\t" ";" fields "${line}")
  list(GET fields 0 step)
  list(APPEND LAB_STEPS ${step})
  list(GET fields 1 LAB_STEP_${step}_SOURCE)
  list(GET fields 2 LAB_STEP_${step}_NEEDS)
  # A step that needs ranks needs CUDA for each of them.
  set(LAB_STEP_${step}_RANKS FALSE)
  if(LAB_STEP_${step}_NEEDS STREQUAL "ranks")
    set(LAB_STEP_${step}_RANKS TRUE)
    set(LAB_STEP_${step}_NEEDS cuda)
  endif()
  list(GET fields 3 LAB_STEP_${step}_N)
  list(GET fields 5 LAB_STEP_${step}_TITLE)
endforeach()

# lab_add_step(solution|exercise NN_name): the programs of one step, where this machine can build them:
# for the GPU and, if it needs one, for the CPU in its place.
function(lab_add_step kind step)
  set(target ${kind}_${step})
  set(source ${CMAKE_CURRENT_SOURCE_DIR}/${kind}s/${step}/${LAB_STEP_${step}_SOURCE})
  if(NOT EXISTS ${source})
    return()  # a handout has no solutions; a test sees to it that nothing else is missing
  endif()
  if(LAB_STEP_${step}_RANKS AND NOT LAB_HAVE_MPI)
    return()
  endif()
  # What the file holds decides whether it is built, not its date.
  cmake_path(GET source PARENT_PATH folder)
  set(stamp ${CMAKE_BINARY_DIR}/content/${target})
  add_custom_target(${target}_content
    COMMAND ${CMAKE_COMMAND} -DSOURCE=${source} -DSTAMP=${stamp} -P ${LAB_CONTENT_STAMP}
    BYPRODUCTS ${stamp} VERBATIM)
  if(LAB_STEP_${step}_NEEDS STREQUAL "cuda")
    lab_add_step_on_cpu(${kind} ${step} ${source} ${stamp})
    if(NOT LAB_HAVE_CUDA)
      return()
    endif()
  endif()

  # An exercise is built when its learner asks: until then it is the solution before it.
  set(on_demand)
  if(kind STREQUAL "exercise")
    set(on_demand EXCLUDE_FROM_ALL)
  endif()
  add_executable(${target} ${on_demand} ${source})
  add_dependencies(${target} ${target}_content)
  set_property(SOURCE ${source} APPEND PROPERTY OBJECT_DEPENDS ${stamp})
  target_compile_definitions(${target} PRIVATE LAB_STEP_NAME="${step}")
  target_link_libraries(${target} PRIVATE lab lab_warnings lab_nvtx)
  if(LAB_STEP_${step}_NEEDS STREQUAL "cuda")
    target_link_libraries(${target} PRIVATE CUDA::cudart_static)
  endif()
  if(LAB_STEP_${step}_RANKS)
    target_link_libraries(${target} PRIVATE lab_ranks)
  endif()
  if(LAB_STEP_${step}_SOURCE MATCHES "\\.cu$")
    # -lineinfo: profilers and compute-sanitizer name source lines. It costs no time.
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-lineinfo>)
    if(kind STREQUAL "exercise")
      set_target_properties(${target} PROPERTIES CUDA_ARCHITECTURES "${LAB_EXERCISE_CUDA_ARCHITECTURES}")
    endif()
  endif()
  add_dependencies(${kind}s ${target})
  set_property(GLOBAL APPEND PROPERTY LAB_STEP_TARGETS ${target})
endfunction()

# The same step by a plain C++ compiler (lab/cpu): TARGET_cpu, and on demand TARGET_cpu_asan with
# AddressSanitizer and TARGET_cpu_watched, which finds races and counts.
function(lab_add_step_on_cpu kind step source stamp)
  set(target ${kind}_${step}_cpu)
  cuda_on_cpu_add_executable(${target} ${source} ON_DEMAND
    CPP ${CMAKE_BINARY_DIR}/cpu/${kind}_${step}.cpp DEPENDS ${stamp} ${kind}_${step}_content)
  foreach(variant "" _asan _watched)
    target_compile_definitions(${target}${variant} PRIVATE LAB_STEP_NAME="${step}")
    if(LAB_STEP_${step}_RANKS)
      target_link_libraries(${target}${variant} PRIVATE lab_ranks_on_cpu${variant})
    endif()
    target_link_libraries(${target}${variant} PRIVATE lab lab_warnings)
    set_property(GLOBAL APPEND PROPERTY LAB_STEP_TARGETS ${target}${variant})
  endforeach()
  add_dependencies(${kind}s_on_cpu ${target})
endfunction()
