# Finds the CUDA Toolkit and chooses the GPU architectures. Sets LAB_HAVE_CUDA.
#
# The architecture is what the user asked for (CMAKE_CUDA_ARCHITECTURES, or CUDAARCHS in the
# environment); else that of the GPU which nvidia-smi finds here; else a list that serves every GPU
# the toolkit knows, so that what a login node builds runs on the compute nodes. (CMake's own
# `native` is an error where there is no GPU.)

set(LAB_HAVE_CUDA FALSE)
if(NOT LAB_CUDA STREQUAL "OFF")
  # nvcc is often installed but not on the PATH: look where the toolkit puts itself.
  if(NOT CMAKE_CUDA_COMPILER)
    set(CMAKE_CUDA_COMPILER $ENV{CUDACXX})
  endif()
  if(NOT CMAKE_CUDA_COMPILER)
    find_program(LAB_NVCC nvcc
      HINTS ENV CUDA_HOME ENV CUDA_PATH ENV CUDA_ROOT ENV NVHPC_CUDA_HOME
      PATHS /usr/local/cuda /opt/cuda
      PATH_SUFFIXES bin)
    mark_as_advanced(LAB_NVCC)
    if(LAB_NVCC)
      set(CMAKE_CUDA_COMPILER ${LAB_NVCC})
    endif()
  endif()
  # An nvcc whose toolkit is gone (a wrapper without its module, say) is none.
  set(failed 1)
  if(CMAKE_CUDA_COMPILER)
    execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --version
      OUTPUT_VARIABLE nvcc_version ERROR_QUIET RESULT_VARIABLE failed)
    if(NOT failed EQUAL 0)
      message(STATUS "${CMAKE_CUDA_COMPILER} does not run")
    endif()
  endif()
  if(failed EQUAL 0)
    set(LAB_HAVE_CUDA TRUE)
  elseif(LAB_CUDA STREQUAL "ON")
    message(FATAL_ERROR "LAB_CUDA=ON, but no nvcc that runs was found: load your site's CUDA module, or name "
                        "it with -DCMAKE_CUDA_COMPILER=/path/to/nvcc")
  endif()
endif()

if(LAB_HAVE_CUDA)
  set(architectures "${CMAKE_CUDA_ARCHITECTURES}")
  set(why "as asked for")
  if(NOT architectures AND DEFINED ENV{CUDAARCHS})
    set(architectures "$ENV{CUDAARCHS}")
    set(why "as CUDAARCHS says")
  endif()
  if(NOT architectures)
    find_program(LAB_NVIDIA_SMI nvidia-smi)
    mark_as_advanced(LAB_NVIDIA_SMI)
    if(LAB_NVIDIA_SMI)
      execute_process(COMMAND ${LAB_NVIDIA_SMI} --query-gpu=compute_cap --format=csv,noheader
        OUTPUT_VARIABLE capabilities ERROR_QUIET RESULT_VARIABLE failed TIMEOUT 30)
      string(REGEX MATCHALL "[0-9]+\\.[0-9]+" capabilities "${capabilities}")
      if(failed EQUAL 0 AND capabilities)
        list(REMOVE_DUPLICATES capabilities)
        string(REPLACE "." "" architectures "${capabilities}")
        set(why "of the GPU here")
      endif()
    endif()
  endif()
  if(NOT architectures)
    set(why "for every GPU, since there is none here")
    string(REGEX MATCH "release ([0-9]+)" matched "${nvcc_version}")
    if(CMAKE_MATCH_1 LESS 13)
      set(architectures 60 70 80 90)  # the steps add doubles atomically, which needs 60
    else()
      set(architectures all-major)
    endif()
  endif()
  # Before the language is enabled: CMake would put its own default into the cache, where the next
  # configuration would take it for the user's wish.
  set(CMAKE_CUDA_ARCHITECTURES "${architectures}")
  enable_language(CUDA)
  if(why STREQUAL "as CUDAARCHS says")
    unset(CMAKE_CUDA_ARCHITECTURES CACHE)  # there CMake put it, and the variable may change
    set(CMAKE_CUDA_ARCHITECTURES "${architectures}")
  endif()
  find_package(CUDAToolkit 12 REQUIRED)
  message(STATUS "CUDA ${CMAKE_CUDA_COMPILER_VERSION}, architectures ${architectures}: ${why}")
else()
  message(STATUS "No CUDA Toolkit: the steps that need a GPU are built for the CPU alone")
endif()
