#include "sim/cli/program.hpp"

int main(int argc, char** argv) { return thinwire::Program().run(argc, argv); }
