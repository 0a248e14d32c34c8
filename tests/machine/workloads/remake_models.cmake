# Makes the models anew and compares them with the shipped ones, byte for byte.
file(MAKE_DIRECTORY ${FOLDER})
execute_process(COMMAND ${PYTHON} ${SOURCE}/tools/models/make_models.py ${FOLDER}
                COMMAND_ERROR_IS_FATAL ANY)
file(GLOB shipped RELATIVE ${SOURCE}/sim/machine/workloads/models ${SOURCE}/sim/machine/workloads/models/*.json)
foreach(name IN LISTS shipped)
  execute_process(COMMAND ${CMAKE_COMMAND} -E compare_files
                          ${FOLDER}/${name} ${SOURCE}/sim/machine/workloads/models/${name}
                  COMMAND_ERROR_IS_FATAL ANY)
endforeach()
