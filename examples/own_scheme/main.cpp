#include <thinwire/program.hpp>

#include "ring_topk.hpp"

int main(int argc, char** argv) {
  thinwire::cli::Program program("own_scheme", OWN_SCHEME_VERSION);
  program.add(ring_topk_scheme());
  return program.run(argc, argv);
}
