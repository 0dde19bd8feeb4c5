# cmake -DSOURCE=... -DSTAMP=... -P content_stamp.cmake: STAMP holds the hashes of a step's SOURCE and of the files
# beside it (a learner's own headers), and is written only if they changed. What depends on it is built by what the
# files hold, whatever their dates say: a file that keeps its date (cp -p, mv) may be older than the program that
# was built from the file before it.
cmake_path(GET SOURCE PARENT_PATH folder)
file(GLOB files LIST_DIRECTORIES false "${folder}/*")
list(FILTER files EXCLUDE REGEX "\\.md$|\\.kept-|~$")
list(APPEND files "${SOURCE}") # also if a character of the folder's name means something to GLOB
list(REMOVE_DUPLICATES files)
set(content)
foreach(file IN LISTS files)
  file(SHA256 "${file}" hash)
  string(APPEND content "${hash}  ${file}\n")
endforeach()
file(CONFIGURE OUTPUT "${STAMP}" CONTENT "${content}" @ONLY)
