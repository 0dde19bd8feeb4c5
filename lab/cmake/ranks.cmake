# Finds MPI, and NCCL where there is a CUDA Toolkit: for the steps that run on several GPUs (needs: ranks), and for
# nothing else. Sets LAB_HAVE_MPI and LAB_HAVE_NCCL.
#
# NCCL is looked for where the system has its libraries, and below NCCL_ROOT or NCCL_HOME: a folder with include/nccl.h
# and lib/libnccl.so, such as site-packages/nvidia/nccl of Python's wheel.

set(LAB_HAVE_NCCL 0)
set(MPI_CXX_SKIP_MPICXX TRUE)  # the C interface is all we use
find_package(MPI QUIET COMPONENTS CXX)
set(LAB_HAVE_MPI ${MPI_CXX_FOUND})
if(LAB_HAVE_MPI)
  # What starts a job of several ranks, for people, scripts and the validator.
  configure_file(lab/cmake/ranks.sh.in ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/ranks @ONLY
    FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
endif()

if(LAB_HAVE_MPI AND LAB_HAVE_CUDA)
  set(places ${NCCL_ROOT} $ENV{NCCL_ROOT} $ENV{NCCL_HOME})
  find_path(LAB_NCCL_INCLUDE nccl.h HINTS ${places} ${CUDAToolkit_INCLUDE_DIRS} PATH_SUFFIXES include)
  # A wheel has libnccl.so.2 alone.
  find_library(LAB_NCCL_LIBRARY NAMES nccl libnccl.so.2 HINTS ${places} ${CUDAToolkit_LIBRARY_DIR}
    PATH_SUFFIXES lib lib64 lib/x86_64-linux-gnu lib/aarch64-linux-gnu)
  mark_as_advanced(LAB_NCCL_INCLUDE LAB_NCCL_LIBRARY)
  if(LAB_NCCL_INCLUDE AND LAB_NCCL_LIBRARY)
    file(STRINGS ${LAB_NCCL_INCLUDE}/nccl.h lines REGEX "^#define NCCL_(MAJOR|MINOR|PATCH) +[0-9]+")
    string(REGEX MATCHALL "[0-9]+" numbers "${lines}")
    list(JOIN numbers "." nccl_version)
    # From 2.14 on a communicator can be configured.
    if(nccl_version VERSION_GREATER_EQUAL 2.14)
      set(LAB_HAVE_NCCL 1)
    else()
      message(STATUS "NCCL ${nccl_version} is too old: 2.14 or newer is needed")
    endif()
  endif()
endif()

if(NOT LAB_HAVE_MPI)
  message(STATUS "MPI was not found: the steps that run on several GPUs are not built")
elseif(NOT LAB_HAVE_CUDA)
  message(STATUS "MPI ${MPI_CXX_VERSION}")
elseif(LAB_HAVE_NCCL)
  message(STATUS "MPI ${MPI_CXX_VERSION}, NCCL ${nccl_version}: ${LAB_NCCL_LIBRARY}")
else()
  message(STATUS "MPI ${MPI_CXX_VERSION}, no NCCL: what GPUs exchange goes through the host (NCCL_ROOT says where NCCL is)")
endif()
