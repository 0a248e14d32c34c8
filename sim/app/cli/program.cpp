#include "sim/app/cli/program.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <span>
#include <string_view>
#include <utility>

#include "algorithms/registry.hpp"
#include "sim/app/cli/excerpts.hpp"
#include "sim/app/cli/shared.hpp"
#include "sim/core/base/complaints.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/shipped_files.hpp"
#include "sim/core/base/version.hpp"

namespace thinwire::cli {

namespace {

constexpr const char* kDescription =
    "Thinwire simulates the allreduce of sparse and dense gradients: which scheme wins on a "
    "network, "
    "at a number of ranks and a density, and how far it strays from its formula.";

constexpr const char* kFooter =
    "Examples:\n"
    "  thinwire run --scheme oktopk --ranks 64 --density 0.01\n"
    "  mpirun -n 8 thinwire measure --scheme oktopk --density 0.01\n"
    "  thinwire sweep sweeps/table1.json -o table1.jsonl\n"
    "  thinwire compare table1.jsonl --tolerance 1e-9\n"
    "  thinwire report table1.jsonl -o report.html\n"
    "  thinwire list schemes\n"
    "  thinwire topo show aries_daint\n"
    "  thinwire trace show training.h5\n"
    "\n"
    "Exit codes: 0 all is well, 1 a simulation failed or a tolerance was exceeded, 2 bad input,\n"
    "130 interrupted.";

}  // namespace

Program::Program(std::string name, std::string version, const std::string& share)
    : name_(std::move(name)), version_(std::move(version)) {
  set_own_program(name_, version_);
  set_share(share);
}

void Program::add(algorithms::SchemeInfo scheme) { schemes_.push_back(std::move(scheme)); }

void Program::add(algorithms::SparsifierInfo sparsifier) {
  sparsifiers_.push_back(std::move(sparsifier));
}

int Program::run_command(int argc, char** argv) {
  for (algorithms::SparsifierInfo& sparsifier : sparsifiers_)
    algorithms::register_sparsifier(std::move(sparsifier));
  for (algorithms::SchemeInfo& scheme : schemes_) algorithms::register_scheme(std::move(scheme));

  CommandLine line(name_, kDescription, version());
  Command& app = line.root();
  app.footer(kFooter);
  if (processes_.make) {
    add_measure(app, processes_);
    return line.run(argc, argv);
  }
  // Help needs no MPI library that starts.
  const std::span<char*> words(argv, static_cast<std::size_t>(argc));
  const auto asks_for_help = [](std::string_view word) {
    return word == "-h" || word.starts_with("--help");
  };
  if (argc > 1 && std::string_view(argv[1]) == "measure" && name_ == "thinwire" &&
      std::ranges::none_of(words, asks_for_help)) {
    become_measuring_program(argv);
  }
  add_run(app);
  add_export(app);
  add_measure(app, processes_);
  add_sweep(app);
  add_concurrent(app);
  add_merge(app);
  add_compare(app);
  add_report(app);
  add_recommend(app);
  add_claims(app);
  add_validate(app);
  add_fit(app);
  add_list(app);
  add_topo(app);
  add_trace(app);
  add_complete(app);
  add_manual(app);
  return line.run(argc, argv);
}

int Program::run(int argc, char** argv) {
  // A closed stream's number would go to the next file that is opened. Reading ends at once, and
  // writing fails.
  for (int stream = 0; stream < 3; ++stream) {
    if (fcntl(stream, F_GETFD) < 0) static_cast<void>(open("/dev/null", O_RDONLY));
  }
  return exit_code_of(name_, [&] { return run_command(argc, argv); });
}

namespace {

/// Says what is wrong with the user's input, and shows the place in a file.
void say_of_input(const std::string& name, const std::string& error) {
  say("{}: {}", name, error);
  for (const std::string& line : excerpt_of(error)) say_line(line);
}

}  // namespace

int exit_code_of(const std::string& name, const std::function<int()>& run) {
  constexpr const char* kUnwritten = "what was printed could not be written";
  try {
    const int exit_code = run();
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return exit_code;
    say("{}: {}", name, kUnwritten);
    return kFailed;
  } catch (const InputErrors& errors) {
    for (const std::string& line : errors.lines()) say_of_input(name, line);
    return kBadInput;
  } catch (const InputError& error) {
    say_of_input(name, error.what());
    return kBadInput;
  } catch (const InterruptedError& error) {
    say("{}: {}", name, error.what());
    return kInterrupted;
  } catch (const std::bad_alloc&) {
    say("{}: out of memory", name);
    return kFailed;
  } catch (const std::exception& error) {
    say("{}: {}", name, std::ferror(stdout) == 0 ? error.what() : kUnwritten);
    return kFailed;
  }
}

}  // namespace thinwire::cli
