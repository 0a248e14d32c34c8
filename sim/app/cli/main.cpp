#include "sim/app/cli/program.hpp"

int main(int argc, char** argv) { return thinwire::cli::Program().run(argc, argv); }
