#include "sim/app/report/tables/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "sim/app/report/tables/benchmark_text.hpp"
#include "sim/app/report/tables/records.hpp"
#include "sim/app/report/tables/varying.hpp"
#include "sim/app/results/compare.hpp"

namespace thinwire::report {

namespace {

bool contains(const std::vector<std::string>& all, const std::string& one) {
  return std::ranges::find(all, one) != all.end();
}

bool is_training(const Json& record) { return record.contains("training.time_s"); }

/// The time to compare a row by: of a training's iteration, else the mean, else in steps.
const Json& headline(const Json& record) {
  static const Json kNone;
  for (const char* key : {"training.time_s", "time_mean_s", "steps"}) {
    const auto found = record.find(key);
    if (found != record.end() && found->is_number()) return *found;
  }
  return kNone;
}

void add_over_best(const std::vector<results::Row>& rows, const std::vector<Json>& settings,
                   std::vector<Json>& records) {
  std::vector<std::string> varying = varying_settings(settings);
  std::erase_if(varying, [](const std::string& key) {
    return key == "scheme" || key == "k" || key == "density" || key.starts_with("options.");
  });
  // The fastest rows by whatever else varies, and by density. Dense rows have no density and count for
  // each.
  std::map<std::string, std::map<std::string, double>> best;
  std::vector<std::string> companies;
  for (std::size_t i = 0; i < records.size(); ++i) {
    Json key = Json::array({name_of(rows[i].point.scheme->collective_kind)});
    for (const std::string& path : varying) key.push_back(settings[i].value(path, Json()));
    companies.push_back(key.dump());
    if (!headline(records[i]).is_number() || selects_far_from_k(records[i])) continue;
    const auto time = headline(records[i]).get<double>();
    auto& fastest = best[companies[i]];
    const auto [found, first] = fastest.emplace(settings[i].value("density", Json()).dump(), time);
    found->second = std::min(found->second, time);
  }
  const std::string dense = Json().dump();
  for (std::size_t i = 0; i < records.size(); ++i) {
    const auto& fastest = best[companies[i]];
    const std::string density = settings[i].value("density", Json()).dump();
    double least = std::numeric_limits<double>::infinity();
    for (const auto& [of, time] : fastest) {
      const bool beside = of == dense || of == density || density == dense;
      if (beside) least = std::min(least, time);
    }
    const bool several = density == dense && fastest.size() > (fastest.contains(dense) ? 2U : 1U);
    const bool known = headline(records[i]).is_number() && least > 0 && !several;
    records[i]["over_best"] = known ? Json(headline(records[i]).get<double>() / least) : Json();
  }
}

void add_efficiency(std::vector<Json>& records, std::vector<Json> settings) {
  std::map<std::string, std::size_t> smallest;
  for (std::size_t i = 0; i < records.size(); ++i) {
    settings[i].erase("ranks");
    if (!is_training(records[i]) || !headline(records[i]).is_number()) continue;
    const auto [found, first] = smallest.emplace(settings[i].dump(), i);
    if (records[i].at("ranks") < records[found->second].at("ranks")) found->second = i;
  }
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (!is_training(records[i])) continue;
    const auto found = smallest.find(settings[i].dump());
    const Json& time = headline(records[i]);
    const bool known = found != smallest.end() && time.is_number() && time > 0;
    records[i]["training.hours_per_100k_iterations"] =
        known ? Json(time.get<double>() * kReportedIterations / 3600) : Json();
    records[i]["training.efficiency"] =
        known ? Json(headline(records[found->second]).get<double>() / time.get<double>()) : Json();
  }
}

/// The columns of records with their "settings". What would say the same in every row stays out.
class ComparisonColumns {
 public:
  explicit ComparisonColumns(const std::vector<Json>& records) : records_(records) {
    std::vector<Json> settings;
    for (const Json& record : records) settings.push_back(record.at("settings"));
    varying_ = varying_settings(settings);
  }

  std::vector<Column> of_results() {
    add_point();
    add_iterations();
    add_formulas();
    add_traffic();
    add_verdict();
    return std::move(columns_);
  }

  std::vector<Column> of_trainings() {
    add_point();
    add({"training.time_s"}, Shown::always);
    add({"training.computation_s", "training.sparsification_s"}, Shown::if_room);
    if (any_value("training.tensor_parallel_s")) {
      add({"training.tensor_parallel_s"}, Shown::if_room);
    }
    add({"training.communication_s", "training.samples_per_s"}, Shown::if_room);
    add({"training.hours_per_100k_iterations"}, Shown::if_wide);
    if (contains(varying_, "ranks")) add({"training.efficiency"}, Shown::if_room);
    if (records_.size() > 1) add({"over_best"}, Shown::always);
    return std::move(columns_);
  }

 private:
  void add(std::initializer_list<const char*> keys, Shown shown) {
    add_columns(columns_, keys, shown);
  }
  [[nodiscard]] bool any(const std::function<bool(const Json&)>& says_something) const {
    return std::ranges::any_of(records_, says_something);
  }
  [[nodiscard]] bool any_value(const char* key) const {
    return any([key](const Json& r) { return r.contains(key) && !r.at(key).is_null(); });
  }
  /// A column in which rows differ is always shown; a column in which all are equal is shown where there
  /// is room.
  [[nodiscard]] Shown if_varying(const std::string& key, Shown otherwise) const {
    return contains(varying_, key) ? Shown::always : otherwise;
  }

  void add_point() {
    add({"scheme"}, Shown::always);
    if (any([](const Json& r) { return r.at("network") != "alphabeta"; })) {
      add({"network"}, if_varying("network", Shown::if_room));
    }
    if (any_value("platform")) add({"platform"}, if_varying("platform", Shown::if_room));
    if (any([](const Json& r) {
          return !r.at("platform").is_null() && r.at("placement") != "block";
        })) {
      add({"placement"}, Shown::always);
    }
    for (const char* key : {"workload.model", "workload.device"}) {
      if (any_value(key)) add({key}, if_varying(key, Shown::if_room));
    }
    add_settings();
    if (any([](const Json& r) {
          return r.contains("input.trace") || r.contains("input.profile");
        })) {
      const bool differs = any([&](const Json& r) { return input(r) != input(records_.front()); });
      columns_.push_back({"input", input, differs ? Shown::always : Shown::if_wide});
    }
    if (any([&](const Json& r) { return r.at("sweep") != records_.front().at("sweep"); })) {
      add({"sweep"}, Shown::if_room);
    }
    add({"ranks"}, Shown::always);
    add({"size_bytes"}, if_varying("components", Shown::if_wide));
    add({"k"}, Shown::if_wide);
    for (const std::string& key : varying_) {
      if (key == "density" || key.starts_with("options.")) columns_.push_back(setting_column(key));
    }
  }

  static std::string input(const Json& r) {
    if (r.contains("input.trace")) return r.at("input.trace").get<std::string>();
    if (!r.contains("input.profile")) return "synthetic";
    return r.at("input.profile").get<std::string>() + "/" +
           r.at("input.family").get<std::string>() +
           (r.at("input.statistical") == true ? "" : "/exact");
  }

  /// Adds settings in which the rows differ, and settings that not every network reads if a row does not
  /// have the default. Settings with a column of their own are not repeated.
  void add_settings() {
    static const std::set<std::string> kOwnColumns{"scheme",
                                                   "network",
                                                   "platform",
                                                   "placement",
                                                   "ranks",
                                                   "components",
                                                   "k",
                                                   "density",
                                                   "input.trace",
                                                   "input.profile",
                                                   "input.family",
                                                   "input.statistical",
                                                   "workload.model",
                                                   "workload.device"};
    for (const plan::Setting& setting : plan::point_settings()) {
      const std::string& key = setting.path;
      if (kOwnColumns.contains(key)) continue;
      const bool of_some = setting.networks.size() == 1;
      const bool unusual = of_some && any([&](const Json& r) {
                             const Json& own = r.at("settings");
                             return own.contains(key) && !plan::is_default(setting, own.at(key));
                           });
      if (!unusual && !contains(varying_, key)) continue;
      columns_.push_back(setting_column(key));
    }
  }

  void add_iterations() {
    const bool has_mean = any_value("time_periodic_s");
    if (has_mean) add({"time_mean_s"}, Shown::always);
    columns_.push_back(steps_or_time());
    if (has_mean) {
      columns_.back().shown = Shown::if_unfolded;
      add({"time_periodic_s", "time_steady_s"}, Shown::if_wide);
    }
    if (any_value("compressed_tensors")) add({"compressed_tensors"}, Shown::if_room);
    if (any_value("settling_iterations")) {
      columns_.push_back(column("settling_iterations", {}, Shown::if_room));
      columns_.back().text = [text = columns_.back().text](const Json& r) {
        return (r.at("settling_cut_short") == true ? ">" : "") + text(r);
      };
    }
    add({"algbw_bytes_per_s", "busbw_bytes_per_s"}, Shown::if_wide);
  }

  void add_formulas() {
    columns_.push_back(interval("paper", "paper_low_s", "paper_high_s", Shown::if_wide));
    columns_.back().text = [text = columns_.back().text](const Json& r) {
      const std::string seconds = text(r);
      return r.at("formula_by") == "ours" && seconds != "-" ? "ours " + seconds : seconds;
    };
    columns_.push_back({"ratio", [](const Json& r) {
                          return interval_text(r.at("ratio_low"), r.at("ratio_high"), 4);
                        }});
    if (records_.size() > 1) add({"over_best"}, Shown::always);
    if (any_value("congestion_factor")) add({"congestion_factor"}, Shown::always);
    columns_.push_back(interval("added", "added_low_s", "added_high_s", Shown::if_wide));
    columns_.push_back(interval("formula", "formula_low_s", "formula_high_s", Shown::if_wide));
  }

  void add_traffic() {
    const auto larger = [](const char* name, const char* sent, const char* received) {
      return Column{name,
                    [sent, received](const Json& r) {
                      return number_text(std::max(r.at(sent), r.at(received)));
                    },
                    Shown::if_wide};
    };
    columns_.push_back(larger("words", "words_sent_max", "words_received_max"));
    columns_.push_back({"formula_words",
                        [](const Json& r) {
                          return interval_text(
                              std::llround(r.at("formula_words_low").get<double>()),
                              std::llround(r.at("formula_words_high").get<double>()));
                        },
                        Shown::if_wide});
    columns_.push_back(larger("messages", "messages_sent_max", "messages_received_max"));
    columns_.push_back(interval("formula_messages", "formula_messages_low", "formula_messages_high",
                                Shown::if_wide));
  }

  void add_verdict() {
    const bool disagree = any([](const Json& r) { return r.at("ranks_agree") == false; });
    add({"ranks_agree"}, disagree ? Shown::always : Shown::if_wide);
    columns_.push_back({"verdict", [](const Json& r) {
                          if (r.at("status") != "ok") return r.at("status").get<std::string>();
                          auto verdict = r.at("verdict").get<std::string>();
                          const Json& mean = r.at("verdict_mean");
                          if (mean.is_null() || mean == verdict) return verdict;
                          return verdict + ", mean " + mean.get<std::string>();
                        }});
  }

  const std::vector<Json>& records_;
  std::vector<std::string> varying_;
  std::vector<Column> columns_;
};

std::vector<Json> records_with(const std::vector<results::Row>& rows,
                               const std::vector<Json>& settings, double tolerance) {
  std::vector<Json> records;
  for (const results::Row& row : rows) records.push_back(record_of(row, compare(row, tolerance)));
  add_over_best(rows, settings, records);
  add_efficiency(records, settings);
  return records;
}

std::vector<Json> settings_of(const std::vector<results::Row>& rows) {
  std::vector<Json> settings;
  for (const results::Row& row : rows) settings.push_back(flat_settings(row.point));
  return settings;
}

}  // namespace

Column steps_or_time() {
  Column time = column("time_s");
  time.text = [text = time.text](const Json& r) {
    return r.at("steps").is_null() ? text(r) : r.at("steps").dump() + " steps";
  };
  return time;
}

std::vector<Json> comparison_records(const std::vector<results::Row>& rows, double tolerance) {
  return records_with(rows, settings_of(rows), tolerance);
}

std::string comparison_text(const std::vector<results::Row>& rows, double tolerance,
                            const View& view) {
  if (view.format == Format::nccl) return nccl_tests_text(rows);
  if (view.format == Format::osu) return osu_text(rows);
  const std::vector<Json> settings = settings_of(rows);
  std::vector<Json> records = records_with(rows, settings, tolerance);
  if (!for_people(view.format)) return render(view, records, {});
  // A training's time contains more than the formulas' time, so trainings have a table of their own.
  std::vector<Json> results;
  std::vector<Json> trainings;
  for (std::size_t i = 0; i < records.size(); ++i) {
    records[i]["settings"] = settings[i];
    (is_training(records[i]) ? trainings : results).push_back(std::move(records[i]));
  }
  std::string text;
  if (!results.empty() || rows.empty()) {
    text = to_table(results, ComparisonColumns(results).of_results(), view);
  }
  if (!trainings.empty()) {
    text += (text.empty() ? "" : "\n") +
            to_table(trainings, ComparisonColumns(trainings).of_trainings(), view);
  }
  return text;
}

}  // namespace thinwire::report
