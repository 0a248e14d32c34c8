#include <thinwire/program.hpp>

#include "thinned_topk.hpp"

int main(int argc, char** argv) {
  thinwire::cli::Program program("own_sparsifier", OWN_SPARSIFIER_VERSION);
  program.add(thinned_topk_sparsifier());
  return program.run(argc, argv);
}
