// The compiled part of the Python package thinwire: data comes and goes as JSON text, which
// thinwire/__init__.py makes data frames of. Errors are translated, and simulations run outside the
// interpreter's lock.
#include <fmt/format.h>
#include <pybind11/functional.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/registry.hpp"
#include "sim/app/cli/points.hpp"
#include "sim/app/cli/program.hpp"
#include "sim/app/cli/shared.hpp"
#include "sim/app/report/tables/baseline.hpp"
#include "sim/app/report/tables/comparison.hpp"
#include "sim/app/report/tables/groups.hpp"
#include "sim/app/report/tables/recommendation.hpp"
#include "sim/app/results/compare.hpp"
#include "sim/app/run/simulate.hpp"
#include "sim/app/run/sweep.hpp"
#include "sim/core/base/child_process.hpp"
#include "sim/core/base/code_file.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/interrupt.hpp"
#include "sim/core/base/json_node.hpp"
#include "sim/core/base/shipped_files.hpp"
#include "sim/core/base/split.hpp"
#include "sim/core/base/version.hpp"
#include "topologies/loading/shipped.hpp"

namespace py = pybind11;

namespace thinwire::python {

namespace {

/// The exception of a handler of signals or of a callback, which ends the work of this thread.
thread_local std::optional<py::error_already_set> ended_by;

/// Calls Python; an exception ends the work with an InterruptedError, so that what was finished is
/// kept.
template <class Call>
void call_python(const Call& call) {
  const py::gil_scoped_acquire acquire;
  try {
    call();
  } catch (const py::error_already_set& error) {
    ended_by = error;
    throw InterruptedError("interrupted");
  }
}

/// Runs the handlers of signals that have come, as the interpreter does between its instructions: in
/// the main thread alone.
void run_handlers() {
  call_python([] {
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  });
}

/// Does work outside the interpreter's lock. The exception that ends it is Python's own; the
/// KeyboardInterrupt of a plain Ctrl-C has the text of the InterruptedError.
template <class Work>
auto outside(const Work& work) {
  try {
    const py::gil_scoped_release release;
    return work();
  } catch (const InterruptedError&) {
    if (!ended_by) throw;
    const py::error_already_set error = *std::exchange(ended_by, std::nullopt);
    const bool plain =
        error.matches(PyExc_KeyboardInterrupt) && py::len(error.value().attr("args")) == 0;
    if (plain) throw;
    throw error;
  }
}

std::string text_of(const std::vector<Json>& records) { return dumped(Json(records)); }

/// Turns words among the values of settings, or of lists of values, into what flags make of them. `path`
/// leads to the setting or the group: dotted, or empty.
void take_words(Json& given, const std::string& path) {
  if (given.is_string()) {
    given = cli::value_from(path, given.get<std::string>());
  } else if (given.is_object()) {
    for (auto& item : given.items()) {
      take_words(item.value(), path.empty() ? item.key() : path + "." + item.key());
    }
  } else if (given.is_array()) {
    for (Json& value : given) take_words(value, path);
  }
}

/// Python's list of values of each setting, by dotted path.
Json values_from(const std::string& given) {
  Json settings = Json::parse(given);
  take_words(settings, "");
  return settings;
}

/// A sweep's config that Python gives as a dict.
Json sweep_from_text(const std::string& config, const std::string& origin) {
  Json sweep = parse_json(config, origin);
  for (const char* part : {"base", "grid", "except"}) {
    if (sweep.contains(part)) take_words(sweep.at(part), "");
  }
  return sweep;
}

/// Results, and what Python asks about them.
class Rows {
 public:
  Rows() = default;
  explicit Rows(std::vector<results::Row> rows) : rows_(std::move(rows)) {}

  void add(results::Row row) { rows_.push_back(std::move(row)); }
  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  [[nodiscard]] std::vector<Json> records(double tolerance) const {
    return report::comparison_records(rows_, tolerance);
  }
  [[nodiscard]] std::string records_text(double tolerance) const {
    return text_of(records(tolerance));
  }
  /// A list of records of each row's result ("phases", "links", "by_rank"), with its key, scheme
  /// and number of ranks.
  [[nodiscard]] std::string details(const std::string& name) const {
    std::vector<Json> all;
    for (const results::Row& row : rows_) {
      const Json json = to_json(row);
      const Json& result = json.at("result");
      if (!result.is_object() || !result.contains(name) || !result.at(name).is_array()) continue;
      for (const Json& one : result.at(name)) {
        Json record = one;
        record["key"] = row.key;
        record["scheme"] = row.point.scheme->name;
        record["ranks"] = row.point.ranks;
        all.push_back(std::move(record));
      }
    }
    return text_of(all);
  }
  [[nodiscard]] std::string groups(std::vector<std::string> by) const {
    const std::vector<Json> all = records(cli::kExactTolerance);
    for (std::string& name : by) {
      name = report::key_of_name("group_by", name, report::columns_of(all));
    }
    return text_of(report::group_records(all, by));
  }
  [[nodiscard]] std::string against(const Rows& baseline, double tolerance) const {
    return text_of(report::baseline_records(rows_, baseline.rows_, tolerance));
  }
  /// What the command line says about points without a result: (whether it failed, the text).
  [[nodiscard]] std::vector<std::pair<bool, std::string>> troubles() const {
    std::vector<std::pair<bool, std::string>> all;
    for (const results::Row& row : rows_) {
      if (row.status == results::Status::ok) continue;
      const bool failed = row.status == results::Status::failed;
      all.emplace_back(failed, fmt::format("{}: {}: {}", failed ? "failed" : "skipped",
                                           cli::name_of(row.point), row.reason));
    }
    return all;
  }
  void write(const std::string& path) const { results::write_rows(path, rows_); }
  /// The rows at these places.
  [[nodiscard]] Rows chosen(const std::vector<std::size_t>& places) const {
    std::vector<results::Row> some;
    for (const std::size_t place : places) some.push_back(rows_.at(place));
    return Rows(std::move(some));
  }

 private:
  std::vector<results::Row> rows_;
};

using Progress = std::function<void(std::size_t done, std::size_t total, double left_s)>;

/// How points run: what run() and sweep() of the package have in common.
struct Running {
  std::optional<int> jobs;
  std::optional<double> seconds;
  std::optional<std::int64_t> memory_bytes;
  std::optional<Progress> progress;

  [[nodiscard]] int at_once() const { return jobs.value_or(default_processes()); }
  [[nodiscard]] ChildLimits limits() const {
    return {.seconds = seconds, .memory_bytes = memory_bytes};
  }
  void tell(std::size_t done, std::size_t total, double left_s) const {
    if (progress) call_python([&] { (*progress)(done, total, left_s); });
  }
};

/// Adds the rows of points as they end: those that did are there after an interrupt too.
void run(Rows& rows, const std::string& config, const std::string& given, const Running& running,
         bool verbose) {
  outside([&] {
    const std::vector<plan::Point> points = cli::points_of(config, values_from(given), {});
    std::size_t told = 0;
    run::simulate_points(
        "run", points,
        {.at_once = running.at_once(), .verbose = verbose, .limits = running.limits()},
        [&](results::Row row) { rows.add(std::move(row)); },
        [&](const run::JobProgress& now) {
          if (std::exchange(told, now.ended) == now.ended) return;
          running.tell(now.ended, points.size(), now.left_s);
        });
  });
}

run::Sweep sweep_of(const std::string& config, bool is_text) {
  const std::string origin = is_text ? "sweep" : run::kSweeps.file(config);
  return run::sweep_from(is_text ? sweep_from_text(config, origin) : read_json(origin), origin);
}

std::string output_of(const run::Sweep& sweep, const std::string& output) {
  return output.empty() ? "results/local/" + sweep.name + ".jsonl" : output;
}

/// What other processes have to simulate of a sweep.
struct Missing {
  std::string sweep;               ///< its name
  std::string output;              ///< the results file
  std::size_t points = 0;          ///< of the whole sweep
  std::vector<std::string> tasks;  ///< the texts of points, the longest first
};

std::vector<results::Row> rows_of(const run::Sweep& sweep, const std::string& path) {
  std::vector<results::Row> rows;
  if (std::filesystem::exists(path)) rows = results::read_rows(path).rows;
  run::check_is_of(sweep, rows, path);
  return rows;
}

Missing missing(const std::string& config, bool is_text, const std::string& output, bool force) {
  return outside([&] {
    const run::Sweep all = sweep_of(config, is_text);
    Missing found{.sweep = all.name,
                  .output = output_of(all, output),
                  .points = all.points.size(),
                  .tasks = {}};
    std::vector<run::PlannedPoint> plan =
        run::plan_sweep(all, rows_of(all, found.output), {.force = force});
    std::ranges::stable_sort(plan, std::greater{}, &run::PlannedPoint::expected_s);
    for (const run::PlannedPoint& planned : plan) {
      if (planned.known) continue;
      found.tasks.push_back(dumped(to_json(all.points[planned.index])));
    }
    return found;
  });
}

/// Simulates a task of a sweep. Returns the line of its row.
std::string simulated(const std::string& sweep, const std::string& task, const Running& running) {
  return outside([&] {
    const plan::Point point = plan::point_from(parse_json(task, sweep), sweep);
    const run::PointSettings settings{
        .processes = {.at_once = running.at_once(), .limits = running.limits()}};
    return results::lines_of({run::run_points(sweep, {point}, settings).front().row});
  });
}

/// The rows of a sweep, in its order, that a file holds.
Rows of_sweep(const std::string& config, bool is_text, const std::string& path) {
  return outside([&] {
    const run::Sweep all = sweep_of(config, is_text);
    std::map<std::string, results::Row> by_point;
    for (results::Row& row : results::unique_rows(rows_of(all, path)).rows) {
      by_point[dumped(to_json(row.point))] = std::move(row);
    }
    std::vector<results::Row> rows;
    for (const plan::Point& point : all.points) {
      const auto found = by_point.find(dumped(to_json(point)));
      if (found != by_point.end()) rows.push_back(std::move(found->second));
    }
    return Rows(std::move(rows));
  });
}

/// `config` is the text of a sweep where `is_text`, else a file or the name of a shipped sweep.
Rows sweep(const std::string& config, bool is_text, const std::string& output,
           const Running& running, bool force) {
  return outside([&] {
    const run::Sweep all = sweep_of(config, is_text);
    return Rows(
        run::run_sweep(all, output_of(all, output),
                       {.jobs = running.at_once(), .force = force, .limits = running.limits()},
                       [&](const run::SweepProgress& now) {
                         if (now.ended != nullptr) running.tell(now.done, now.total, now.left_s);
                       }));
  });
}

Rows load(const std::vector<std::string>& files, const std::vector<std::string>& where) {
  return outside([&] { return Rows(cli::rows_where(cli::read_results(files), where)); });
}

/// A recommendation as records, and what the command line says about candidates without a result.
struct Advice {
  std::string forecast = "[]";
  std::string candidates = "[]";
  std::string crossovers = "[]";
  std::string assumptions = "[]";
  std::string slower = "[]";
  std::string answer;
  Rows rows;
};

/// Who is asked for a recommendation, and who is told of it while it is made.
struct AdviceQuestion {
  std::vector<std::string> schemes;
  bool all = false;
  bool crossovers = true;
  int most_ranks = 0;
  bool sum_density = false;
  double state_bytes = 0;
  double most_seconds = 0;
  std::optional<std::function<void(const std::string& forecast)>> forecast;
};

void take(Advice& advice, const studies::Recommendation& found, bool crossovers) {
  std::vector<results::Row> rows;
  for (const studies::Candidate& candidate : found.ranked) rows.push_back(candidate.row);
  if (rows.empty() || !rows.front().outcome) {
    if (found.interrupted) return;
    throw SimulationError("no candidate could be simulated");
  }
  advice.candidates = text_of(report::candidate_records(found));
  if (crossovers) advice.crossovers = text_of(report::crossover_records(found));
  advice.assumptions = text_of(report::assumption_records(found));
  advice.slower = text_of(report::slower_records(found));
  advice.answer = report::answer_text(found);
  advice.rows = Rows(std::move(rows));
}

/// Fills the advice as it becomes known: it is there after an interrupt too.
void recommend(Advice& advice, const std::string& given, const AdviceQuestion& asked,
               const Running& running) {
  outside([&] {
    Json point = Json::object();
    const Json settings = values_from(given);
    for (const auto& item : settings.items()) {
      if (item.value().size() != 1) {
        throw InputError("{}: expected one value here", item.key());
      }
      plan::set_by_path(point, item.key(), item.value().front());
    }
    std::size_t told = 0;
    const studies::Recommendation found = studies::recommend(
        {.point = point,
         .schemes = asked.schemes,
         .all = asked.all,
         .crossovers = asked.crossovers,
         .most_ranks = asked.most_ranks,
         .density_of = asked.sum_density ? studies::DensityOf::sum : studies::DensityOf::rank,
         .state_bytes = asked.state_bytes,
         .jobs = running.at_once(),
         .most_seconds = asked.most_seconds,
         .forecast =
             [&](const studies::Forecast& forecast) {
               advice.forecast = text_of(report::forecast_records(forecast));
               if (asked.forecast) call_python([&] { (*asked.forecast)(advice.forecast); });
             },
         .progress =
             [&](const run::SweepProgress& now) {
               if (std::exchange(told, now.done) == now.done) return;
               running.tell(now.done, now.total, now.left_s);
             }});
    take(advice, found, asked.crossovers);
    if (found.interrupted) throw InterruptedError("interrupted");
  });
}

/// What a command printed, and its exit code.
struct Printed {
  int exit_code = 0;
  py::bytes out = "";
  std::string err;
};

/// Everything in a temporary file that a command wrote to.
std::string written_to(std::FILE* file) {
  std::string text(static_cast<std::size_t>(std::max(0L, std::ftell(file))), '\0');
  std::rewind(file);
  text.resize(std::fread(text.data(), 1, text.size(), file));
  return text;
}

/// A command of the program, with these arguments, in a process of its own.
Printed command(const std::vector<std::string>& arguments) {
  const auto work = [&arguments] {
    std::FILE* const out = std::tmpfile();
    std::FILE* const err = std::tmpfile();
    if (out == nullptr || err == nullptr) throw SimulationError("no temporary file can be made");
    dup2(fileno(out), STDOUT_FILENO);
    dup2(fileno(err), STDERR_FILENO);
    std::vector<std::string> words{"thinwire"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> given;
    for (std::string& word : words) given.push_back(word.data());
    given.push_back(nullptr);
    const int exit_code = cli::Program().run(static_cast<int>(words.size()), given.data());
    std::fseek(out, 0, SEEK_END);
    std::fseek(err, 0, SEEK_END);
    const std::string printed = written_to(out);
    return fmt::format("{} {} {}{}", exit_code, printed.size(), printed, written_to(err));
  };
  const std::string text = outside([&] { return in_child_process({.run = work}, true).text; });
  const std::size_t first = text.find(' ');
  const std::size_t second = text.find(' ', first + 1);
  const std::size_t size = std::stoul(text.substr(first + 1, second - first - 1));
  return {.exit_code = std::stoi(text.substr(0, first)),
          .out = py::bytes(text.substr(second + 1, size)),
          .err = text.substr(second + 1 + size)};
}

std::string settings() {
  std::vector<Json> records;
  for (const plan::Setting& setting : plan::point_settings()) {
    records.push_back({{"setting", setting.path},
                       {"unit", setting.unit},
                       {"value", setting.wanted()},
                       {"default", setting.default_text()},
                       {"readers", setting.readers()},
                       {"help", setting.help}});
  }
  return text_of(records);
}

/// By flag of the command line, the setting that it gives.
std::map<std::string, std::string> flags() {
  std::map<std::string, std::string> all;
  for (const plan::Setting& setting : plan::point_settings()) {
    for (const std::string& flag : split(setting.flag)) {
      if (!flag.empty()) all.emplace(flag, setting.path);
    }
  }
  return all;
}

std::vector<std::string> scheme_names() {
  std::vector<std::string> names;
  for (const algorithms::SchemeInfo& scheme : algorithms::all_schemes())
    names.push_back(scheme.name);
  return names;
}

/// The share/thinwire folder of an installation, which may have been moved.
void find_share() {
  const std::filesystem::path module = code_file();
  set_share((module.parent_path() / THINWIRE_SHARE_FROM_MODULE).lexically_normal().string());
}

void define_classes(py::module_& module) {
  py::class_<Running>(module, "Running")
      .def(py::init<std::optional<int>, std::optional<double>, std::optional<std::int64_t>,
                    std::optional<Progress>>());
  py::class_<Rows>(module, "Rows")
      .def(py::init<>())
      .def("__len__", &Rows::size)
      .def("records", &Rows::records_text)
      .def("details", &Rows::details)
      .def("groups", &Rows::groups)
      .def("against", &Rows::against)
      .def("troubles", &Rows::troubles)
      .def("chosen", &Rows::chosen)
      .def("write", &Rows::write);
  py::class_<Printed>(module, "Printed")
      .def_readonly("exit_code", &Printed::exit_code)
      .def_readonly("out", &Printed::out)
      .def_readonly("err", &Printed::err);
  py::class_<AdviceQuestion>(module, "AdviceQuestion")
      .def(py::init<std::vector<std::string>, bool, bool, int, bool, double, double,
                    std::optional<std::function<void(const std::string&)>>>());
  py::class_<Advice>(module, "Advice")
      .def(py::init<>())
      .def_readonly("forecast", &Advice::forecast)
      .def_readonly("slower", &Advice::slower)
      .def_readonly("answer", &Advice::answer)
      .def_readonly("candidates", &Advice::candidates)
      .def_readonly("crossovers", &Advice::crossovers)
      .def_readonly("assumptions", &Advice::assumptions)
      .def_readonly("rows", &Advice::rows);
  py::class_<Missing>(module, "Missing")
      .def_readonly("sweep", &Missing::sweep)
      .def_readonly("output", &Missing::output)
      .def_readonly("points", &Missing::points)
      .def_readonly("tasks", &Missing::tasks);
}

}  // namespace

}  // namespace thinwire::python

PYBIND11_MODULE(_thinwire, module) {
  using namespace thinwire;
  python::find_share();
  leave_signals_to(python::run_handlers);

  static const py::exception<InputError> input_error(module, "InputError", PyExc_ValueError);
  static const py::exception<SimulationError> simulation_error(module, "SimulationError",
                                                               PyExc_RuntimeError);
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const InputError& error) {
      PyErr_SetString(input_error.ptr(), error.what());
    } catch (const SimulationError& error) {
      PyErr_SetString(simulation_error.ptr(), error.what());
    } catch (const InterruptedError& error) {
      PyErr_SetString(PyExc_KeyboardInterrupt, error.what());
    } catch (const Json::exception& error) {
      const std::string text = error.what();  // "[json.exception.type_error.302] ..."
      PyErr_SetString(input_error.ptr(), text.substr(text.find("] ") + 2).c_str());
    }
  });

  python::define_classes(module);
  module.def("run", &python::run);
  module.def("sweep", &python::sweep);
  module.def("missing", &python::missing);
  module.def("simulated", &python::simulated);
  module.def("of_sweep", &python::of_sweep);
  module.def("command", &python::command);
  module.def("load", &python::load);
  module.def("recommend", &python::recommend);
  module.def("settings", &python::settings);
  module.def("flags", &python::flags);
  module.def("schemes", &python::scheme_names);
  module.def("platforms", [] { return topologies::kPlatforms.names(); });
  module.def("version", [] { return version(); });
}
