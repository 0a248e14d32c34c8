// The main program of all test programs.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include "tests/support/sanitizers.hpp"

int main(int argc, char** argv) {
  doctest::Context context;
  // Tests of the suite "large" simulate more of what smaller tests simulate too. Under sanitizers
  // they would take minutes, so they are neither listed nor run.
  if (thinwire::test::kSanitized) context.addFilter("test-suite-exclude", "large");
  context.applyCommandLine(argc, argv);
  return context.run();
}
