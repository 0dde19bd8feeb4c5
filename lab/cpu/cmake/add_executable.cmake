# cuda_on_cpu_add_executable(TARGET FILE.cu [ON_DEMAND] [CPP FILE.cpp] [DEPENDS FILE|TARGET...]): two programs of a CUDA
# source file.
#
#   TARGET           for everyday use; ON_DEMAND: built if it is asked for, as the other one is
#   TARGET_watched   every access is looked at: races, and counters (LAB_CPU_COUNTS)
#
# CPP is the C++ that is made of the file, and DEPENDS what must be there, or built, before that.
function(cuda_on_cpu_add_executable target source)
  cmake_parse_arguments(PARSE_ARGV 2 arg "ON_DEMAND" "CPP" "DEPENDS")
  cmake_path(ABSOLUTE_PATH source)
  cmake_path(GET source PARENT_PATH folder)
  set(cpp ${arg_CPP})
  if(NOT cpp)
    set(cpp ${CMAKE_CURRENT_BINARY_DIR}/${target}.cpp)
  endif()
  cmake_path(GET cpp PARENT_PATH cpp_folder)
  file(MAKE_DIRECTORY ${cpp_folder})
  add_custom_command(OUTPUT ${cpp} COMMAND cuda_to_cpp ${source} ${cpp} DEPENDS ${source} ${arg_DEPENDS} cuda_to_cpp
    COMMENT "C++ of ${source}" VERBATIM)
  # The variants share the file: one target makes it.
  add_custom_target(${target}_source DEPENDS ${cpp})
  foreach(variant "" _watched)
    set(on_demand EXCLUDE_FROM_ALL)
    if(variant STREQUAL "" AND NOT arg_ON_DEMAND)
      set(on_demand)
    endif()
    add_executable(${target}${variant} ${on_demand} ${cpp})
    add_dependencies(${target}${variant} ${target}_source)
    target_link_libraries(${target}${variant} PRIVATE cuda_on_cpu${variant})
    # -g1: a fault names its line. The file's own folder: for headers beside it. Hints for another compiler (#pragma
    # unroll) are no mistake.
    target_compile_options(${target}${variant} PRIVATE -g1 "SHELL:-iquote \"${folder}\"" -Wno-unknown-pragmas)
  endforeach()
endfunction()
