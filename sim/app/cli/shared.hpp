// Code that the subcommands share. Each of them has a file that adds it to the parser.
#pragma once

#include <fmt/core.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/app/cli/command_line.hpp"
#include "sim/app/plan/config.hpp"
#include "sim/app/report/tables/formats.hpp"
#include "sim/app/results/results_file.hpp"

namespace thinwire::cli {

// Exit codes: 0, success; 1, a simulation failed or a tolerance was exceeded; 2, bad input; 130,
// interrupted.
inline constexpr int kFailed = 1;
inline constexpr int kBadInput = 2;
inline constexpr int kInterrupted = 130;

/// Prints a line on stderr, where control characters are escaped. A stderr that cannot be written
/// stops nothing.
void say_line(const std::string& line);
template <class... Values>
void say(fmt::format_string<Values...> text, Values&&... values) {
  say_line(fmt::format(text, std::forward<Values>(values)...));
}
/// Shows what goes on in the last line of the terminal, in place of what was shown there before.
void show_on_terminal(const std::string& text);

/// Each adds a subcommand, whose callback does the work.
void add_report(Command& app);
void add_run(Command& app);
void add_sweep(Command& app);
void add_compare(Command& app);
void add_concurrent(Command& app);
void add_claims(Command& app);
void add_export(Command& app);
void add_list(Command& app);
struct RealProcesses;
/// `processes` must outlive the command.
void add_measure(Command& app, const RealProcesses& processes);
/// Runs thinwire-mpi, beside this program, in its place. Comes back if there is none.
void become_measuring_program(char** argv);
void add_merge(Command& app);
void add_recommend(Command& app);
void add_topo(Command& app);
void add_trace(Command& app);
void add_fit(Command& app);
void add_validate(Command& app);
/// These are not in the help; bash's completion and the man page are generated with them.
void add_complete(Command& app);
void add_manual(Command& app);

/// Adds the flags of a point's settings. Their values go into `given`, by dotted path; `given` must
/// outlive the command.
void add_setting_flags(Command& command, Json& given,
                       const plan::Settings& settings = plan::point_settings());
/// Whether a flag takes a list of values, separated by commas.
enum class Values : std::uint8_t { one, several };
/// Adds one such flag, with another help text if its meaning differs from that in 'run'.
void add_setting_flag(Command& command, Json& given, const plan::Setting& setting, Values values,
                      const std::string& help = {});
/// --jobs N, as many as there are processors by default: the `what` that run at once.
void add_jobs(Command& command, int& jobs, const std::string& what);
/// --memory-limit MiB.
void add_memory_limit(Command& command, std::optional<std::int64_t>& mebibytes);
/// --format table|markdown|csv|json|jsonl, and --wide.
void add_format(Command& command, report::View& view);
/// --columns, of a command that prints one table.
void add_columns(Command& command, report::View& view);
/// Both, also nccl and osu, for results.
void add_result_format(Command& command, report::View& view);
/// Throws InputError if the format is a benchmark's and a point has no place in it.
void check_result_format(const report::View& view, const std::vector<plan::Point>& points);
/// Restarts this program if a point needs packets and the environment lacks what ns-3 reads from it
/// before main (kPacketBuffers). Must be called before anything is printed. Throws InputError if
/// the config is a pipe, which cannot be read a second time.
void prepare_for_packets(const std::vector<plan::Point>& points, const std::string& config);
/// A short description of a point, for progress and error messages.
[[nodiscard]] std::string name_of(const plan::Point& point);
/// Throws InputError if the file `output` is one of those that are read, which would be lost. Names
/// that are no files are ignored.
void check_output(const std::string& output, const std::vector<std::string>& inputs);
/// The files that a point may name.
[[nodiscard]] std::vector<std::string> inputs_of(const plan::Point& point);
/// The rows of all files, each key once; what was left out is said on stderr. Throws InputError if a
/// file holds none.
[[nodiscard]] std::vector<results::Row> read_results(const std::vector<std::string>& files);
/// A condition KEY=VALUE[,VALUE] of --where.
struct Condition {
  std::string text;
  std::string name;  ///< of a column, as key_of_name() takes it
  std::vector<std::string> values;

  /// Throws InputError for what is none.
  explicit Condition(std::string given);
  /// Which records have the column, with one of the values. Throws InputError for an unknown column;
  /// a value that no record has, beside one that some have, is noted on stderr.
  [[nodiscard]] std::vector<bool> among(const std::vector<Json>& records) const;
};

/// The rows whose column KEY is one of the values, for each KEY=VALUE[,VALUE] of `where`; columns
/// are named as in record_of. Throws InputError if a column is unknown or no row remains.
[[nodiscard]] std::vector<results::Row> rows_where(std::vector<results::Row> rows,
                                                   const std::vector<std::string>& where);
/// Says on stderr how many points were given before and left out, if there are any; `others` are
/// those that are left.
void say_repeated(std::size_t left_out, const std::vector<plan::Point>& others);
/// Says on stderr how many rows contradict one another.
void say_contradictions(const results::UniqueRows& rows);
/// Lists on stderr what was skipped or failed, and what to know of the results. Returns whether
/// anything failed.
[[nodiscard]] bool report_troubles(const std::vector<results::Row>& rows);

/// The relative tolerance of the verdict "exact".
inline constexpr double kExactTolerance = 1e-9;

}  // namespace thinwire::cli
