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
#include "sim/core/base/child_process.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/nearest.hpp"
#include "sim/core/base/numbers.hpp"
#include "sim/core/base/printable.hpp"
#include "sim/core/base/split.hpp"
#include "sim/machine/networks/smpi/smpi.hpp"

namespace thinwire::cli {

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
        "{}: with packets a config is read twice, so it must be a file; or leave it out and give "
        "'--packet'",
        config);
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
  const std::string& model = point.workload.model;
  const std::string& given = input.trace.empty() ? input.profile : input.trace;
  const std::string& source = model.empty() ? given : model;
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
  command
      .add_option("--memory-limit", mebibytes, "memory for a point; a point that needs more fails")
      .range(std::int64_t{1}, std::int64_t{1} << 40)
      .unit("MiB")
      .value_text("MiB");
}

namespace {

constexpr const char* kFormats = "table, markdown, csv, json or jsonl";

void add_format_of(Command& command, report::View& view, const std::string& help,
                   std::vector<std::pair<std::string, report::Format>> more = {}) {
  using report::Format;
  std::vector<std::pair<std::string, Format>> formats{{"table", Format::table},
                                                      {"markdown", Format::markdown},
                                                      {"csv", Format::csv},
                                                      {"json", Format::json},
                                                      {"jsonl", Format::jsonl}};
  std::ranges::move(more, std::back_inserter(formats));
  command.add_choice<Format>("--format", view.format, formats, help).value_text("FORMAT [table]");
  command.add_flag("--wide", view.wide, "all columns of the table, however wide");
}

}  // namespace

void add_format(Command& command, report::View& view) { add_format_of(command, view, kFormats); }

void add_columns(Command& command, report::View& view) {
  command
      .add_option("--columns", view.columns,
                  "these columns alone, by the names in headings or files: scheme,ranks,time_mean")
      .commas()
      .value_text("NAME,...");
}

void add_result_format(Command& command, report::View& view) {
  add_format_of(
      command, view,
      std::string(kFormats) + "; nccl, osu: as nccl-tests and the OSU benchmarks print times",
      {{"nccl", report::Format::nccl}, {"osu", report::Format::osu}});
  add_columns(command, view);
}

void check_result_format(const report::View& view, const std::vector<plan::Point>& points) {
  using report::Format;
  const bool benchmark = view.format == Format::nccl || view.format == Format::osu;
  if (!view.columns.empty() && benchmark) {
    throw InputError("--columns: nccl and osu have the columns of the benchmarks; leave it out");
  }
  if (!benchmark) return;
  for (const plan::Point& point : points) report::check_benchmark_point(point);
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
    if (file.rows.empty())
      throw InputError("{}: holds no results; run the command that writes it again", path);
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
  name = text.substr(0, equals);
  values = split(text.substr(equals + 1));
}

namespace {

/// Whether a value of a record is the one that was typed. The first digits of a number suffice: a
/// density is k/n with a whole k, 0.009999998 for 0.01.
bool is_value(const Json& found, const std::string& wanted) {
  constexpr double kSame = 1e-5;
  const std::optional<double> number =
      found.is_number() ? parse_number<double>(wanted) : std::nullopt;
  if (!number) return report::plain_text(found) == wanted;
  const auto value = found.get<double>();
  const bool rounded = found.is_number_float() && std::isfinite(*number) &&
                       std::abs(value - *number) <= kSame * std::abs(*number);
  return value == *number || rounded;
}

}  // namespace

std::vector<bool> Condition::among(const std::vector<Json>& records) const {
  const std::string key = report::key_of_name("--where", name, report::columns_of(records));
  std::vector<bool> holds(records.size());
  std::vector<std::string> unmatched;
  for (const std::string& wanted : values) {
    bool any = false;
    for (std::size_t i = 0; i < records.size(); ++i) {
      if (!records[i].contains(key) || !is_value(records[i].at(key), wanted)) continue;
      any = holds[i] = true;
    }
    if (!any) unmatched.push_back(wanted);
  }
  for (const std::string& wanted : unmatched) {
    const std::size_t equals = wanted.find('=');
    if (equals != std::string::npos && !records.empty() &&
        records.front().contains(wanted.substr(0, equals))) {
      throw InputError("--where {}: '{}' is another condition; give it a --where of its own", text,
                       wanted);
    }
  }
  if (unmatched.size() == values.size() || unmatched.empty()) return holds;
  std::vector<std::string> known;
  for (const Json& record : records) {
    const std::string value = record.contains(key) ? report::plain_text(record.at(key)) : "null";
    if (std::ranges::find(known, value) == known.end()) known.push_back(value);
  }
  for (const std::string& wanted : unmatched) {
    say("note: --where {}: no result has {}{}", text, wanted, did_you_mean(wanted, known));
  }
  return holds;
}

std::vector<results::Row> rows_where(std::vector<results::Row> rows,
                                     const std::vector<std::string>& where) {
  for (const std::string& text : where) {
    const Condition condition(text);
    std::vector<Json> records;
    for (const results::Row& row : rows)
      records.push_back(report::record_of(row, compare(row, kExactTolerance)));
    const std::vector<bool> holds = condition.among(records);
    std::vector<results::Row> chosen;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (holds[i]) chosen.push_back(std::move(rows[i]));
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
  say("note: repeated points left out: {}{}", left_out,
      dense ? " (dense schemes have no density)" : "");
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
      "are of a few ranks that stand for all although their parts or selections differ: errors of "
      "up "
      "to 25% were seen (docs/explanation/approximate.md)");
  note(
      rows, [](const results::Row& row) { return row.outcome && row.outcome->extrapolated_chunks; },
      "have times that are extrapolated from fewer chunks (docs/explanation/approximate.md)");
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
