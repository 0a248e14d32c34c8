// Part of each module: what says that it is of the same build as the program (module.cpp).
#include "sim/core/base/version.hpp"

extern "C" const char* const thinwire_module_version = thinwire::built_version();
