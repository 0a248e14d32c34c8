#include <fmt/format.h>

#include <cstdio>
#include <exception>

#include "sim/cli/command.hpp"
#include "sim/core/errors.hpp"
#include "sim/core/version.hpp"

namespace {

constexpr const char* kDescription =
    "Thinwire simulates the allreduce of sparse and dense gradients: which scheme wins on a "
    "network, "
    "at a number of ranks and a density, and how far it strays from its formula.";

constexpr const char* kFooter =
    "Examples:\n"
    "  thinwire run --scheme oktopk --ranks 64 --density 0.01\n"
    "  thinwire sweep sweeps/table1.json -o table1.jsonl\n"
    "  thinwire compare table1.jsonl --tolerance 1e-9\n"
    "  thinwire list schemes\n"
    "  thinwire topo show aries_daint\n"
    "  thinwire trace show training.h5\n"
    "\n"
    "Exit codes: 0 all is well, 1 a simulation failed or a gate did not hold, 2 bad input,\n"
    "130 interrupted.";

int run(int argc, char** argv) {
  using namespace thinwire;
  CLI::App app(kDescription, "thinwire");
  app.footer(kFooter);
  app.set_version_flag("--version", version());
  app.require_subcommand(1);
  app.get_formatter()->column_width(40);
  int exit_code = 0;
  add_run(app, exit_code);
  add_sweep(app, exit_code);
  add_merge(app, exit_code);
  add_compare(app, exit_code);
  add_recommend(app, exit_code);
  add_claims(app, exit_code);
  add_list(app, exit_code);
  add_topo(app, exit_code);
  add_trace(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "thinwire: {} (see 'thinwire --help')\n", error.what());
    return kBadInput;
  }
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const int exit_code = run(argc, argv);
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return exit_code;
    fmt::print(stderr, "thinwire: what was printed could not be written\n");
    return thinwire::kFailed;
  } catch (const thinwire::InputError& error) {
    fmt::print(stderr, "thinwire: {}\n", error.what());
    return thinwire::kBadInput;
  } catch (const thinwire::InterruptedError& error) {
    fmt::print(stderr, "thinwire: {}\n", error.what());
    return thinwire::kInterrupted;
  } catch (const std::exception& error) {
    fmt::print(stderr, "thinwire: {}\n", error.what());
    return thinwire::kFailed;
  }
}
