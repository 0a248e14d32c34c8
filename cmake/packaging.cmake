# What `cmake --install` and `cpack` put where: docs/how-to/install.md. Component `program` is the
# program and all that it reads; `development` is the CMake package for schemes from outside.
include(CMakePackageConfigHelpers)

set(share ${CMAKE_INSTALL_DATADIR}/thinwire)
set(doc ${CMAKE_INSTALL_DATADIR}/doc/thinwire)

# -- program --
install(TARGETS thinwire COMPONENT program)
# A component of its own, because it needs an MPI library.
if(THINWIRE_HAS_MPI)
  install(TARGETS thinwire-mpi COMPONENT mpi)
endif()
install(DIRECTORY platforms traces/profiles sim/machine/workloads/models sim/app/plan/schemas
        DESTINATION ${share} COMPONENT program)
install(DIRECTORY traces/recorded/ DESTINATION ${share}/traces COMPONENT program
        FILES_MATCHING PATTERN "*.h5")
install(DIRECTORY sim/machine/workloads/devices/ DESTINATION ${share}/devices COMPONENT program
        FILES_MATCHING PATTERN "*.json")
install(FILES sim/app/studies/claims/claims.json DESTINATION ${share}/claims COMPONENT program)

# Sweeps name the schema beside them, for editors; it lies elsewhere when they are installed.
file(GLOB sweeps CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/sweeps sweeps/*.json)
foreach(sweep IN LISTS sweeps)
  file(READ sweeps/${sweep} text)
  string(REPLACE "../sim/app/plan/schemas/" "../schemas/" text "${text}")
  file(WRITE ${PROJECT_BINARY_DIR}/sweeps/${sweep} "${text}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS sweeps/${sweep})
endforeach()
install(DIRECTORY ${PROJECT_BINARY_DIR}/sweeps DESTINATION ${share} COMPONENT program)

install(FILES ${PROJECT_BINARY_DIR}/thinwire.1.gz
        DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program)
install(FILES tools/completion/thinwire.bash RENAME thinwire
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT program)
install(PROGRAMS tools/slurm/sweep.sbatch DESTINATION ${share}/slurm COMPONENT program)
# To copy beside a training, or to run: they are no part of the Python package, and take torch or h5py.
install(PROGRAMS examples/pytorch/kineto_model.py examples/pytorch/thinwire_ddp.py tools/trace/write_trace.py
        DESTINATION ${share}/pytorch COMPONENT program)
install(FILES README.md CHANGELOG.md ${PROJECT_BINARY_DIR}/changelog.gz cmake/copyright
        DESTINATION ${doc} COMPONENT program)

# -- documentation --
install(DIRECTORY docs DESTINATION ${doc} COMPONENT documentation)
install(FILES ${PROJECT_BINARY_DIR}/changelog.gz cmake/copyright DESTINATION ${doc}-doc COMPONENT documentation)

# -- python: the package itself is installed by sim/app/python --
if(THINWIRE_HAS_PYTHON)
  set(python_doc ${CMAKE_INSTALL_DATADIR}/doc/python3-thinwire)
  install(FILES ${PROJECT_BINARY_DIR}/changelog.gz cmake/copyright DESTINATION ${python_doc} COMPONENT python)
  install(DIRECTORY examples/notebook DESTINATION ${python_doc}/examples COMPONENT python)
endif()

# -- development: <thinwire/...> is for users, and includes the headers of the rooms --
install(DIRECTORY include/thinwire DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
foreach(folder IN ITEMS sim algorithms topologies traces)
  install(DIRECTORY ${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/thinwire
          COMPONENT development FILES_MATCHING PATTERN "*.hpp"
          PATTERN models EXCLUDE PATTERN schemas EXCLUDE
          PATTERN profiles EXCLUDE PATTERN recorded EXCLUDE)
endforeach()
# What our own tests run schemes with, and the serial sums that they hold them against.
install(FILES tests/support/gradients.hpp tests/support/networks.hpp tests/support/ranks.hpp
              tests/support/schemes.hpp tests/support/sparse.hpp tests/support/switches.hpp
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/thinwire/tests/support COMPONENT development)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/Thinwire)
set(exports ThinwireCoreTargets ThinwireTargets)
if(THINWIRE_HAS_MPI)
  list(APPEND exports ThinwireMpiTargets)
endif()
foreach(export IN LISTS exports)
  install(EXPORT ${export} NAMESPACE Thinwire:: DESTINATION ${package} COMPONENT development)
endforeach()
configure_package_config_file(cmake/ThinwireConfig.cmake.in
  ${PROJECT_BINARY_DIR}/ThinwireConfig.cmake INSTALL_DESTINATION ${package} PATH_VARS share)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/ThinwireConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/ThinwireConfig.cmake
              ${PROJECT_BINARY_DIR}/ThinwireConfigVersion.cmake
        DESTINATION ${package} COMPONENT development)
install(FILES ${PROJECT_BINARY_DIR}/changelog.gz cmake/copyright DESTINATION ${doc}-dev COMPONENT development)
if(THINWIRE_HAS_MPI)
  install(FILES ${PROJECT_BINARY_DIR}/changelog.gz cmake/copyright DESTINATION ${doc}-mpi COMPONENT mpi)
endif()
install(DIRECTORY examples/own_scheme examples/own_sparsifier examples/mpi_training
        DESTINATION ${doc}-dev/examples COMPONENT development)

# -- Debian packages: cpack --config BUILD/CPackConfig.cmake --
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME thinwire)
set(CPACK_PACKAGE_CONTACT "Thinwire maintainers <maintainers@thinwire.invalid>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL program development documentation)
if(THINWIRE_HAS_MPI)
  list(APPEND CPACK_COMPONENTS_ALL mpi)
endif()
if(THINWIRE_HAS_PYTHON)
  list(APPEND CPACK_COMPONENTS_ALL python)
endif()
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION
"Thinwire simulates the allreduce collectives that distributed training uses
for sparse and dense gradients, on the alpha-beta machine of their papers and
on SimGrid's models of real networks, and compares them with their formulas.")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME thinwire)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "bash-completion, thinwire-doc")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
"Development files of Thinwire, which simulates the allreduce collectives
that distributed training uses for sparse and dense gradients: headers, static
libraries and the CMake package with which a program adds schemes and
sparsifiers of its own to Thinwire, and an example of one.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME thinwire-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
  "thinwire (= ${PROJECT_VERSION}), libfmt-dev, nlohmann-json3-dev, libboost-graph-dev, libexpat1-dev, libprotobuf-dev")
set(CPACK_COMPONENT_MPI_DESCRIPTION
"Thinwire simulates the allreduce collectives that distributed training uses
for sparse and dense gradients. This program, which 'thinwire measure' runs,
executes the same collectives on real MPI processes, checks and times them.")
set(CPACK_DEBIAN_MPI_PACKAGE_NAME thinwire-mpi)
set(CPACK_DEBIAN_MPI_PACKAGE_SHLIBDEPS ON)
# Open MPI starts even a single process by a program of this package.
if("${MPI_CXX_INCLUDE_DIRS}" MATCHES openmpi)
  set(launcher openmpi-bin)
else()
  set(launcher mpich)
endif()
set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "thinwire (= ${PROJECT_VERSION}), ${launcher}")
set(CPACK_COMPONENT_DOCUMENTATION_DESCRIPTION
"Documentation of Thinwire, which simulates the allreduce collectives that
distributed training uses for sparse and dense gradients: the user guide, the
output format, the cost models of the schemes, and how each part is validated.")
set(CPACK_DEBIAN_DOCUMENTATION_PACKAGE_NAME thinwire-doc)
set(CPACK_DEBIAN_DOCUMENTATION_PACKAGE_SECTION doc)
set(CPACK_DEBIAN_DOCUMENTATION_PACKAGE_ARCHITECTURE all)
if(THINWIRE_HAS_PYTHON)
  set(CPACK_COMPONENT_PYTHON_DESCRIPTION
"Python package of Thinwire, which simulates the allreduce collectives that
distributed training uses for sparse and dense gradients. Simulations, sweeps,
comparisons and recommendations return pandas data frames.")
  math(EXPR next_minor "${Python_VERSION_MINOR} + 1")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-thinwire)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS
    "thinwire (= ${PROJECT_VERSION}), python3 (>= ${Python_VERSION_MAJOR}.${Python_VERSION_MINOR}), python3 (<< ${Python_VERSION_MAJOR}.${next_minor}), python3-pandas")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS "python3-matplotlib, python3-h5py")
endif()
include(CPack)
