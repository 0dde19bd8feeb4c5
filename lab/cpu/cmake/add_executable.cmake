# cuda_on_cpu_add_executable(TARGET FILE.cu [FILE|TARGET...]): two programs of a CUDA source file.
#
#   TARGET           for everyday use
#   TARGET_watched   every access is looked at: races, and counters (LAB_CPU_COUNTS); built if it is asked for
#
# The files and targets are what must be there, or built, before C++ is made of the file.
function(cuda_on_cpu_add_executable target source)
  cmake_path(ABSOLUTE_PATH source)
  cmake_path(GET source PARENT_PATH folder)
  set(cpp ${CMAKE_CURRENT_BINARY_DIR}/cpu/${target}.cpp)
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/cpu)
  add_custom_command(OUTPUT ${cpp} COMMAND cuda_to_cpp ${source} ${cpp} DEPENDS ${source} ${ARGN} cuda_to_cpp
    COMMENT "C++ of ${source}" VERBATIM)
  # The variants share the file: one target makes it.
  add_custom_target(${target}_source DEPENDS ${cpp})
  foreach(variant "" _watched)
    add_executable(${target}${variant} ${cpp})
    add_dependencies(${target}${variant} ${target}_source)
    target_link_libraries(${target}${variant} PRIVATE cuda_on_cpu${variant})
    # The file's own folder: for headers beside it.
    target_compile_options(${target}${variant} PRIVATE "SHELL:-iquote \"${folder}\"")
    # A .cu file has cuda_runtime.h without an #include, from nvcc too; C++ that lacks it is wrong.
    if(source MATCHES "\\.cu$" AND TARGET cuda_on_cpu_headers${variant})
      target_precompile_headers(${target}${variant} REUSE_FROM cuda_on_cpu_headers${variant})
    endif()
  endforeach()
  set_target_properties(${target}_watched PROPERTIES EXCLUDE_FROM_ALL ON)
endfunction()
