#include "sim/app/studies/validate/measured.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <system_error>

#include "sim/app/studies/validate/measured/formats.hpp"
#include "sim/app/studies/validate/measured/pasted.hpp"
#include "sim/app/studies/validate/mislabelled.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/files.hpp"
#include "sim/core/base/nearest.hpp"
#include "sim/core/base/split.hpp"

namespace thinwire::studies {

namespace {

const std::vector<std::string>& fact_names() {
  static const std::vector<std::string> names{"machine", "run",       "test",      "nodes",
                                              "library", "segment",   "algorithm", "tasks_per_node",
                                              "gpu",     "collective"};
  return names;
}

/// Whether two readings of a text are of two collectives.
bool reads_others(const MeasuredFile& one, const MeasuredFile& other) {
  const std::string of_one = one.fact("collective");
  const std::string of_other = other.fact("collective");
  return !of_one.empty() && !of_other.empty() && of_one != of_other;
}

}  // namespace

std::int64_t MeasuredRow::selected() const { return point && !point->scheme->dense ? point->k : 0; }

std::string MeasuredFile::fact(const std::string& name) const {
  for (const auto* from : {&facts, &otherwise}) {
    if (const auto found = from->find(name); found != from->end()) return found->second;
  }
  return {};
}

const std::vector<std::string>& known_collectives() {
  static const std::vector<std::string> names{"allreduce", "allgather", "reduce_scatter",
                                              "alltoall", "ping_pong"};
  return names;
}

std::string known_collective(const std::string& name) {
  const auto bare = [](std::string_view text) {
    std::string letters = lower(text);
    std::erase_if(letters, [](char c) { return c == '_' || c == '-'; });
    return letters;
  };
  const auto& known = known_collectives();
  const auto found = std::ranges::find(known, bare(name), bare);
  return found == known.end() ? name : *found;
}

std::string yes_or_no(const std::string& flag) {
  if (flag == "true") return "yes";
  return flag == "false" ? "no" : flag;
}

MeasuredFile measured_file(const std::string& argument) {
  const std::vector<std::string> parts = thinwire::split(argument);
  MeasuredFile file{.path = parts.front()};
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::size_t equals = parts[i].find('=');
    const std::string name = parts[i].substr(0, equals);
    if (equals == std::string::npos) {
      throw InputError("--measured {}: '{}' is not valid; expected KEY=VALUE", argument, parts[i]);
    }
    if (std::ranges::find(fact_names(), name) == fact_names().end()) {
      throw InputError("--measured {}: unknown key '{}'{}", argument, name,
                       did_you_mean(name, fact_names()));
    }
    std::string value = parts[i].substr(equals + 1);
    if (name == "collective") value = known_collective(value);
    if (name == "gpu") value = yes_or_no(value);
    if (!file.facts.emplace(name, std::move(value)).second) {
      throw InputError("--measured {}: '{}' is there twice", argument, name);
    }
  }
  file.otherwise["run"] = std::filesystem::path(file.path).stem().string();
  return file;
}

std::vector<MeasuredRow> read_measured(const MeasuredFile& file) {
  const std::string text(without_byte_order_mark(read_text(file.path)));
  if (text.starts_with('{')) return rows_of_results(text, file);
  const std::string printed = as_printed(text);
  for (const std::string_view line : lines_of_text(printed)) {
    const std::vector<Token> tokens = tokens_of(line);
    if (is_of_nccl_tests(tokens)) return rows_of_nccl_tests(printed, file);
    if (is_of_osu(tokens)) return rows_of_osu(printed, file);
    if (is_of_imb(tokens)) return rows_of_imb(printed, file);
  }
  const std::string_view first = text.empty() ? std::string_view() : lines_of_text(text).front();
  if (!first.empty() && first.find(',') == std::string_view::npos) {
    throw InputError(
        "{}: not recognised as nccl-tests, OSU, IMB or CSV: a text of these has the heading of its "
        "table, and a CSV the names of its columns on the first line",
        file.path);
  }
  return rows_of_csv(text, file);
}

std::vector<MeasuredRow> read_all_measured(const std::vector<std::string>& arguments,
                                           const std::string& machine) {
  std::vector<MeasuredRow> all;
  std::vector<MeasuredFile> files;
  for (const std::string& argument : arguments) {
    MeasuredFile file = measured_file(argument);
    if (!machine.empty()) file.otherwise["machine"] = machine;
    std::ranges::move(read_measured(file), std::back_inserter(all));
    for (const MeasuredFile& before : files) {
      std::error_code none;
      if (!std::filesystem::equivalent(file.path, before.path, none)) continue;
      if (reads_others(file, before)) continue;
      throw InputError("--measured {}: the file is given twice", argument);
    }
    files.push_back(std::move(file));
  }
  mark_mislabelled(all);
  return all;
}

}  // namespace thinwire::studies
