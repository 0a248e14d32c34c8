# HDF5::c: the serial C library alone, which Debian keeps in a folder of its own. CMake's FindHDF5
# asks a compiler wrapper and wants the C language.
find_path(HDF5_INCLUDE_DIR hdf5.h PATH_SUFFIXES hdf5/serial)
find_library(HDF5_LIBRARY NAMES hdf5_serial hdf5)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(HDF5C REQUIRED_VARS HDF5_LIBRARY HDF5_INCLUDE_DIR)
if(HDF5C_FOUND AND NOT TARGET HDF5::c)
  add_library(HDF5::c UNKNOWN IMPORTED)
  set_target_properties(HDF5::c PROPERTIES IMPORTED_LOCATION ${HDF5_LIBRARY}
                        INTERFACE_INCLUDE_DIRECTORIES ${HDF5_INCLUDE_DIR})
endif()
