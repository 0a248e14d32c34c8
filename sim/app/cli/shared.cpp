#include "sim/app/cli/shared.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "sim/app/plan/approximate.hpp"
#include "sim/app/report/tables/benchmark_text.hpp"
#include "sim/app/report/tables/groups.hpp"
#include "sim/app/report/tables/records.hpp"
#include "sim/app/report/tables/training.hpp"
#include "sim/app/report/tables/varying.hpp"
#include "sim/core/base/child_process.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/nearest.hpp"
#include "sim/core/base/numbers.hpp"
#include "sim/core/base/printable.hpp"
#include "sim/core/base/split.hpp"
#include "sim/machine/networks/smpi/smpi.hpp"

namespace thinwire::cli {

namespace {

bool contains(const std::vector<std::string>& all, const std::string& one) {
  return std::ranges::find(all, one) != all.end();
}

report::Column gigabytes(const char* heading, const char* key) {
  return {heading, [key](const Json& r) {
            return r.at(key).is_null() ? std::string("-")
                                       : report::number_text(r.at(key).get<double>() / 1e9, 5);
          }};
}

std::string input_text(const Json& r) {
  if (r.contains("input.trace")) return r.at("input.trace").get<std::string>();
  if (!r.contains("input.profile")) return "synthetic";
  return r.at("input.profile").get<std::string>() + "/" + r.at("input.family").get<std::string>() +
         (r.at("input.statistical") == true ? "" : "/exact");
}

/// The columns of records with their "settings". What would say the same in every row stays out.
class ComparisonColumns {
 public:
  ComparisonColumns(Detail detail, const std::vector<Json>& records)
      : detail_(detail), records_(records) {
    std::vector<Json> settings;
    for (const Json& record : records) settings.push_back(record.at("settings"));
    varying_ = report::varying_settings(settings);
  }

  std::vector<report::Column> all() {
    add_network();
    add_settings();
    add_gradient();
    add_iterations();
    add_times();
    if (detail_ == Detail::full) add_formulas();
    add_verdict();
    return std::move(columns_);
  }

 private:
  void add(report::Column column) { columns_.push_back(std::move(column)); }
  [[nodiscard]] bool any(const std::function<bool(const Json&)>& says_something) const {
    return std::ranges::any_of(records_, says_something);
  }
  [[nodiscard]] bool any_value(const char* key) const {
    return any([key](const Json& r) { return !r.at(key).is_null(); });
  }

  void add_network() {
    report::add_texts(columns_, {"scheme"});
    if (any([](const Json& r) { return r.at("network") != "alphabeta"; })) {
      report::add_texts(columns_, {"network"});
    }
    if (any_value("platform")) report::add_texts(columns_, {"platform"});
    if (any([](const Json& r) {
          return !r.at("platform").is_null() && r.at("placement") != "block";
        })) {
      report::add_texts(columns_, {"placement"});
    }
  }

  /// Settings in which the rows differ, and those that not every network reads where one of them is
  /// not the default. Those that have a column of their own are not repeated.
  void add_settings() {
    static const std::set<std::string> kOwnColumns{
        "scheme",           "network", "platform",    "placement",     "ranks",
        "components",       "k",       "input.trace", "input.profile", "input.family",
        "input.statistical"};
    for (const plan::Setting& setting : plan::point_settings()) {
      const std::string& key = setting.path;
      if (kOwnColumns.contains(key) || key == "density") continue;
      const bool of_some = setting.networks.size() == 1;
      const bool unusual = of_some && any([&](const Json& r) {
                             const Json& own = r.at("settings");
                             return own.contains(key) && !plan::is_default(setting, own.at(key));
                           });
      if (unusual || contains(varying_, key)) add(report::setting_column(key));
    }
  }

  void add_gradient() {
    if (any([](const Json& r) {
          return r.contains("input.trace") || r.contains("input.profile");
        })) {
      add({"input", input_text, true});
    }
    if (any([&](const Json& r) { return r.at("sweep") != records_.front().at("sweep"); })) {
      report::add_texts(columns_, {"sweep"});
    }
    report::add_numbers(columns_, {"ranks", "size_bytes", "k"});
    if (contains(varying_, "density")) add(report::setting_column("density"));
    for (const std::string& key : varying_) {
      if (key.starts_with("options.")) add(report::setting_column(key));
    }
  }

  void add_iterations() {
    if (any_value("time_periodic_s")) {
      add(report::number_column("mean_s", "time_mean_s", 4));
      add(report::number_column("periodic_s", "time_periodic_s", 4));
      const bool differs = any([](const Json& r) {
        return !r.at("time_steady_s").is_null() && r.at("time_steady_s") != r.at("time_s");
      });
      if (differs) add(report::number_column("steady_s", "time_steady_s"));
    }
    if (any_value("compressed_tensors"))
      add(report::number_column("compressed", "compressed_tensors"));
    if (any_value("settling_iterations")) {
      add({"settled_after", [](const Json& r) {
             const std::string iterations = report::number_text(r.at("settling_iterations"));
             return r.at("settling_cut_short") == true ? ">" + iterations : iterations;
           }});
    }
  }

  void add_times() {
    add({"time_s", [](const Json& r) {
           return r.at("steps").is_null() ? report::number_text(r.at("time_s"))
                                          : r.at("steps").dump() + " steps";
         }});
    add(gigabytes("algbw_GB/s", "algbw_bytes_per_s"));
    add(gigabytes("busbw_GB/s", "busbw_bytes_per_s"));
    add({"paper_s", [](const Json& r) {
           const std::string seconds =
               report::interval_text(r.at("paper_low_s"), r.at("paper_high_s"), 6);
           return r.at("formula_by") == "ours" && seconds != "-" ? "ours " + seconds : seconds;
         }});
    add(report::interval_column("time/paper", "ratio_low", "ratio_high", 5));
    if (any_value("congestion_factor")) {
      add(report::number_column("congestion", "congestion_factor"));
    }
  }

  void add_formulas() {
    const auto larger = [](const char* heading, const char* sent, const char* received) {
      return report::Column{heading, [sent, received](const Json& r) {
                              return report::number_text(std::max(r.at(sent), r.at(received)));
                            }};
    };
    add(report::interval_column("added_s", "added_low_s", "added_high_s", 3));
    add(report::interval_column("formula_s", "formula_low_s", "formula_high_s", 6));
    add(larger("words_max", "words_sent_max", "words_received_max"));
    add({"formula_words", [](const Json& r) {
           return report::interval_text(std::llround(r.at("formula_words_low").get<double>()),
                                        std::llround(r.at("formula_words_high").get<double>()));
         }});
    add(larger("messages", "messages_sent_max", "messages_received_max"));
    add(report::interval_column("formula_messages", "formula_messages_low", "formula_messages_high",
                                6));
  }

  void add_verdict() {
    add({"ranks_agree", [](const Json& r) {
           if (r.at("ranks_agree").is_null()) return "-";
           return r.at("ranks_agree") == true ? "yes" : "no";
         }});
    add({"verdict",
         [](const Json& r) {
           if (r.at("status") != "ok") return r.at("status").get<std::string>();
           auto verdict = r.at("verdict").get<std::string>();
           const Json& mean = r.at("verdict_mean");
           if (mean.is_null() || mean == verdict) return verdict;
           return verdict + ", mean " + mean.get<std::string>();
         },
         true});
  }

  Detail detail_;
  const std::vector<Json>& records_;
  std::vector<std::string> varying_;
  std::vector<report::Column> columns_;
};

}  // namespace

void say_line(const std::string& line) {
  const std::size_t end = line.find_last_not_of('\n');
  const std::string text = printable(line.substr(0, end == std::string::npos ? 0 : end + 1)) + '\n';
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
}

void show_on_terminal(const std::string& text) {
  static_cast<void>(std::fputs(("\r\033[K" + printable(text)).c_str(), stderr));
  std::fflush(stderr);
}

void prepare_for_packets(const std::vector<plan::Point>& points, const std::string& config) {
  constexpr const char* kVariable = "NS_ATTRIBUTE_DEFAULT";
  if (std::ranges::none_of(points, &plan::Point::packets) || std::getenv(kVariable) != nullptr)
    return;
  if (!config.empty() && !std::filesystem::is_regular_file(config)) {
    throw InputError(
        "{}: packets need a config in a file, which is read twice, or '--packet' alone", config);
  }
  setenv(kVariable, networks::kPacketBuffers, 1);
  std::ifstream file("/proc/self/cmdline");
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::vector<char*> arguments;
  for (std::size_t at = 0; at < text.size(); at = text.find('\0', at) + 1) {
    arguments.push_back(text.data() + at);
  }
  arguments.push_back(nullptr);
  execv("/proc/self/exe", arguments.data());  // comes back only where it fails: then without
}

std::string name_of(const plan::Point& point) {
  const plan::Input& input = point.input;
  const std::string& source = input.trace.empty() ? input.profile : input.trace;
  return fmt::format(
      "{} on {} ranks{}{}{}", point.scheme->name, point.ranks, source.empty() ? "" : ", " + source,
      point.network == "alphabeta" ? "" : ", " + point.network->name,
      (point.platform.empty() ? "" : ", " + point.platform) + (point.packets ? ", packets" : ""));
}

namespace {

/// "25,5M" and "0,01" are two values each, but maybe not to the one who typed them.
void say_if_decimal_comma(const plan::Setting& setting, const std::vector<std::string>& parts) {
  if (parts.size() != 2 || !parse_number<double>(parts[0])) return;
  const bool leading_zero = parts[1].size() > 1 && parts[1].starts_with('0') && parts[1][1] != '.';
  if (parse_number<double>(parts[1]) && !leading_zero) return;
  say("{} {},{}: these are two values, {} and {}; a decimal has a point: {}.{}",
      setting.flag_name(), parts[0], parts[1], parts[0], parts[1], parts[0], parts[1]);
}

}  // namespace

void add_setting_flag(Command& command, Json& given, const plan::Setting& setting, Values values,
                      const std::string& help) {
  using plan::SettingKind;
  std::string text = help.empty() ? setting.help : help;
  const std::string readers = setting.readers();
  if (help.empty() && !readers.empty()) text += fmt::format(" ({})", readers);
  if (setting.kind == SettingKind::boolean) {
    command.add_flag(
        setting.flag, [&given, path = setting.path] { given[path] = true; }, text);
    return;
  }
  Option option = command.add_taker(
      setting.flag,
      [&given, &setting, values](const std::string& word) {
        const bool is_text = setting.kind == SettingKind::text;
        const bool listed = !is_text || setting.path == "scheme" || setting.path == "network" ||
                            setting.path == "platform";
        const std::vector<std::string> parts = listed ? split(word) : std::vector{word};
        if (parts.size() > 1 && values == Values::one) {
          throw InputError("{}: '{}' is not valid; expected one value here, a decimal with a point",
                           setting.flag_name(), excerpt(word));
        }
        Json all = Json::array();
        for (const std::string& part : parts) {
          all.push_back(plan::value_of(part, setting));
          // An empty word would mean what holds without the flag: a variable that is not set.
          const bool nothing = part.empty() && !setting.standard.empty();
          if (!nothing && (is_text || !all.back().is_string())) continue;
          throw InputError("{}: '{}' is not valid; expected {}", setting.flag_name(), excerpt(part),
                           nothing && is_text ? "a name" : setting.wanted());
        }
        if (!is_text) say_if_decimal_comma(setting, parts);
        given[setting.path] = all.size() == 1 ? all.front() : all;
      },
      text);
  if (!setting.choices.empty()) option.choices(setting.choices);
  const std::string standard = setting.default_text();
  option.value_text(fmt::format("{}{}",
                                !setting.unit.empty()                  ? setting.unit
                                : setting.kind == SettingKind::integer ? "N"
                                : setting.kind == SettingKind::number  ? "X"
                                                                       : "NAME",
                                standard.empty() ? "" : fmt::format(" [{}]", standard)));
}

void add_setting_flags(Command& command, Json& given, const plan::Settings& settings) {
  for (const plan::Setting& setting : settings) {
    if (!setting.flag.empty()) add_setting_flag(command, given, setting, Values::several);
  }
}

void add_jobs(Command& command, int& jobs, const std::string& what) {
  jobs = default_processes();
  command.add_option("-j,--jobs", jobs, what + " that run at once")
      .positive()
      .value_text(fmt::format("N [{}]", jobs));
}

void add_memory_limit(Command& command, std::optional<std::int64_t>& mebibytes) {
  command.add_option("--memory-limit", mebibytes, "memory for a point; beyond it it fails")
      .range(std::int64_t{1}, std::int64_t{1} << 40)
      .unit("MiB")
      .value_text("MiB");
}

void add_format(Command& command, report::Format& format) {
  command
      .add_choice<report::Format>("--format", format,
                                  {{"table", report::Format::table},
                                   {"csv", report::Format::csv},
                                   {"json", report::Format::json},
                                   {"jsonl", report::Format::jsonl}},
                                  "table, csv, json or jsonl")
      .value_text("FORMAT [table]");
}

void add_result_format(Command& command, report::Format& format) {
  command
      .add_choice<report::Format>("--format", format,
                                  {{"table", report::Format::table},
                                   {"csv", report::Format::csv},
                                   {"json", report::Format::json},
                                   {"jsonl", report::Format::jsonl},
                                   {"nccl", report::Format::nccl},
                                   {"osu", report::Format::osu}},
                                  "table, csv, json or jsonl; nccl, osu: as nccl-tests and the OSU "
                                  "benchmarks print times")
      .value_text("FORMAT [table]");
}

void check_result_format(report::Format format, const std::vector<plan::Point>& points) {
  if (format != report::Format::nccl && format != report::Format::osu) return;
  for (const plan::Point& point : points) report::check_benchmark_point(point);
}

std::string comparison_text(const std::vector<results::Row>& rows, double tolerance,
                            report::Format format, Detail detail) {
  if (format == report::Format::nccl) return report::nccl_tests_text(rows);
  if (format == report::Format::osu) return report::osu_text(rows);
  // A training's time has more in it than the formulas': in a table it has one of its own.
  const bool table = format == report::Format::table;
  std::vector<Json> records;
  for (const results::Row& row : rows) {
    if (table && !row.point.workload.model.empty()) continue;
    records.push_back(report::record_of(row, compare(row, tolerance)));
    if (table) records.back()["settings"] = report::flat_settings(row.point);
  }
  if (!table) return report::render(format, records, {});
  std::string text;
  if (!records.empty() || rows.empty()) {
    text = report::to_table(records, ComparisonColumns(detail, records).all());
  }
  const std::vector<Json> trainings = report::training_records(rows);
  if (!trainings.empty()) {
    text += (text.empty() ? "" : "\n") +
            report::to_table(trainings, report::training_columns(trainings));
  }
  return text;
}

void check_output(const std::string& output, const std::vector<std::string>& inputs) {
  for (const std::string& input : inputs) {
    std::error_code none;
    if (!std::filesystem::equivalent(output, input, none)) continue;
    throw InputError("{}: it is read, and would be lost; give another place", output);
  }
}

std::vector<std::string> inputs_of(const plan::Point& point) {
  return {point.platform,      point.placement,      point.input.trace,
          point.input.profile, point.workload.model, point.workload.device};
}

std::vector<results::Row> read_results(const std::vector<std::string>& files) {
  std::vector<results::Row> rows;
  for (const std::string& path : files) {
    results::RowsFile file = results::read_rows(path);
    if (file.truncated) say("{}: the last line is not complete and is left out", path);
    if (file.rows.empty()) throw InputError("{}: holds no results", path);
    std::ranges::move(file.rows, std::back_inserter(rows));
  }
  results::UniqueRows unique = results::unique_rows(std::move(rows));
  if (unique.repeated > 0) {
    say("{} results occur more than once; the last of each is used", unique.repeated);
  }
  say_contradictions(unique);
  return std::move(unique.rows);
}

Condition::Condition(std::string given) : text(std::move(given)) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) {
    throw InputError("--where: '{}' is not valid; expected KEY=VALUE, as in network=smpi",
                     excerpt(text));
  }
  key = text.substr(0, equals);
  values = split(text.substr(equals + 1));
}

bool Condition::holds(const Json& record) const {
  if (!record.contains(key)) return false;
  const Json& found = record.at(key);
  // The first digits of a value suffice: a density is k/n with a whole k, 0.009999998 for 0.01.
  constexpr double kSame = 1e-5;
  return std::ranges::any_of(values, [&found](const std::string& wanted) {
    const std::optional<double> number =
        found.is_number() ? parse_number<double>(wanted) : std::nullopt;
    if (!number) return report::plain_text(found) == wanted;
    const auto value = found.get<double>();
    const bool rounded = found.is_number_float() && std::isfinite(*number) &&
                         std::abs(value - *number) <= kSame * std::abs(*number);
    return value == *number || rounded;
  });
}

std::vector<results::Row> rows_where(std::vector<results::Row> rows,
                                     const std::vector<std::string>& where) {
  for (const std::string& text : where) {
    const Condition condition(text);
    std::vector<Json> records;
    for (const results::Row& row : rows)
      records.push_back(report::record_of(row, compare(row, kExactTolerance)));
    report::check_column("--where", condition.key, report::columns_of(records));
    std::vector<results::Row> chosen;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (condition.holds(records[i])) chosen.push_back(std::move(rows[i]));
    }
    rows = std::move(chosen);
    if (rows.empty()) throw InputError("--where: no result has {}", text);
  }
  return rows;
}

void say_repeated(std::size_t left_out, const std::vector<plan::Point>& others) {
  if (left_out == 0) return;
  const bool dense =
      std::ranges::any_of(others, [](const plan::Point& point) { return point.scheme->dense; });
  say("points that are given more than once run once: {} left out{}", left_out,
      dense ? " (dense schemes read no density)" : "");
}

void say_contradictions(const results::UniqueRows& rows) {
  if (rows.contradictions == 0) return;
  say("{} points have different results under one key, and the last one of each counts",
      rows.contradictions);
}

namespace {

/// Says how many rows have a property, and which schemes they are of; nothing if none has it.
void note(const std::vector<results::Row>& rows, bool (*has)(const results::Row&),
          const std::string& what) {
  std::set<std::string> schemes;
  std::size_t count = 0;
  for (const results::Row& row : rows) {
    if (!has(row)) continue;
    schemes.insert(row.point.scheme->name);
    ++count;
  }
  if (count == 0) return;
  say("note: {} of {} results ({}) {}", count, rows.size(), fmt::join(schemes, ", "), what);
}

}  // namespace

bool report_troubles(const std::vector<results::Row>& rows) {
  static constexpr double kUsualError = 0.05;  // of approximations
  std::fflush(stdout);                         // the table first, where both go to one place
  note(rows, results::selects_far_from_k,
       "select less than half of k or more than twice as much: their times win nothing");
  note(
      rows, [](const results::Row& row) { return row.outcome && row.outcome->settling_cut_short; },
      "begin with partitions that were not seen to settle: f(t), and so the time, might still "
      "fall");
  note(
      rows,
      [](const results::Row& row) {
        if (!row.outcome || row.point.few_ranks() == 0) return false;
        const auto& selection = row.outcome->selection;
        const bool uneven = selection && selection->least != selection->most;
        return plan::approximation_error(row.point, uneven) > kUsualError;
      },
      "are of few ranks that stand for all although their parts or selections differ: errors of up "
      "to 25% were seen (docs/approximate.md)");
  note(
      rows, [](const results::Row& row) { return row.outcome && row.outcome->extrapolated_chunks; },
      "have times that are extrapolated from fewer chunks (docs/approximate.md)");
  bool failed = false;
  for (const results::Row& row : rows) {
    if (row.status == results::Status::ok) continue;
    failed = failed || row.status == results::Status::failed;
    say("{}: {}: {}", row.status == results::Status::failed ? "failed" : "skipped",
        name_of(row.point), row.reason);
  }
  return failed;
}

}  // namespace thinwire::cli
