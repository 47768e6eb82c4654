# decontend_embed(TARGET NAME FILE...) generates NAME.h and NAME.cpp in the build
# folder: `decontend::embedded::NAME()` gives {path, text} pairs of the files, so
# that the programs need nothing beside themselves at run time.
function(decontend_embed target name)
  set(out ${CMAKE_BINARY_DIR}/embedded)
  set(files)
  foreach(f ${ARGN})
    list(APPEND files ${CMAKE_SOURCE_DIR}/${f})
  endforeach()
  string(REPLACE ";" "|" joined "${ARGN}")
  add_custom_command(
    OUTPUT ${out}/${name}.cpp ${out}/${name}.h
    COMMAND ${CMAKE_COMMAND} -DNAME=${name} -DOUT=${out} -DROOT=${CMAKE_SOURCE_DIR}
            "-DFILES=${joined}" -P ${CMAKE_SOURCE_DIR}/cmake/EmbedFiles.cmake
    DEPENDS ${files} ${CMAKE_SOURCE_DIR}/cmake/EmbedFiles.cmake
    VERBATIM)
  target_sources(${target} PRIVATE ${out}/${name}.cpp ${out}/${name}.h)
endfunction()
