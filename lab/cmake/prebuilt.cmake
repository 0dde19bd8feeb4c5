# -DLAB_PREBUILT=DIR: the library, CUDA on the CPU and the validator are those that the build in DIR has made of the same
# files. For the tests that try the verbs in copies of the lab: they build steps there, and nothing else. (There is no
# ladder: that program knows where its lab is.)
find_package(Threads REQUIRED)
include(${LAB_PREBUILT}/prebuilt.cmake)
include(lab/cpu/cmake/add_executable.cmake)
add_library(lab_nvtx INTERFACE)
target_link_libraries(lab_nvtx INTERFACE cuda_on_cpu_nvtx)

# These are called by where they stand.
foreach(program validate goals clinic swap_functions)
  add_custom_target(${program} COMMAND ${CMAKE_COMMAND} -E copy_if_different
    ${LAB_PREBUILT}/bin/${program} ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${program} VERBATIM)
endforeach()
file(WRITE ${CMAKE_BINARY_DIR}/lab/liblab.a "")  # by which the verbs know that this is not the first build
