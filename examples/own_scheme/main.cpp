#include "ring_topk.hpp"
#include "sim/cli/program.hpp"

int main(int argc, char** argv) {
  thinwire::Program program("own_scheme", OWN_SCHEME_VERSION);
  program.add(ring_topk_scheme());
  return program.run(argc, argv);
}
