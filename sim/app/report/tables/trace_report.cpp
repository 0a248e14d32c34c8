#include "sim/app/report/tables/trace_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/core/base/printable.hpp"

namespace thinwire::report {

namespace {

constexpr int kBarWidth = 32;
constexpr std::size_t kSparkWidth = 60;

/// A column of bars, scaled to the largest value of all records.
Column bar_column(const std::vector<Json>& records, const char* key) {
  double largest = 0;
  for (const Json& record : records) largest = std::max(largest, record.at(key).get<double>());
  return {"", [key, largest](const Json& r) {
            return bar(largest == 0 ? 0 : r.at(key).get<double>() / largest, kBarWidth);
          }};
}

std::string header_text(const Json& trace) {
  std::string text;
  const auto line = [&](const char* name, const std::string& value) {
    text += fmt::format("{:<12}{}\n", name, printable(value));
  };
  const auto number = [&](const char* key) { return number_text(trace.at(key)); };
  line("trace", trace.at("trace").get<std::string>());
  line("source", trace.at("source").get<std::string>());
  line("ranks", fmt::format("{}, seed {}", number("ranks"), number("seed")));
  line("components", fmt::format("{}, density {}, k = {}", number_text(trace.at("components"), 12),
                                 number("density"), number("k")));
  line("iterations", fmt::format("{} recorded, {} .. {}", number("iterations"),
                                 number("first_iteration"), number("last_iteration")));
  line("residuals", trace.at("residual_rule") == "all"
                        ? "drop all selected entries"
                        : "drop selected entries of the global top-k");
  if (trace.at("gradient_iterations") != 0) {
    line("gradients",
         fmt::format("{} coordinates of {} ranks in {} iterations", number("gradient_coordinates"),
                     number("gradient_ranks"), number("gradient_iterations")));
  }
  line("selected/k", fmt::format("{} .. {}, mean {}", number("selected_least"),
                                 number("selected_most"), number("selected_mean")));
  line("imbalance",
       fmt::format("{} of a rank's own over 64 regions, {} of the global top-k over {}",
                   number("local_imbalance"), number("global_imbalance"), number("ranks")));
  line("kept", trace.at("kept").is_null()
                   ? std::string("- (one iteration)")
                   : fmt::format("{} of a rank's selection, in the next recorded iteration",
                                 number("kept")));
  line("moved", fmt::format("{} from the first to the last iteration (by chance {})",
                            number("total_variation"), number("total_variation_by_chance")));
  return text;
}

std::string threshold_text(const traces::TraceStatistics& statistics) {
  const auto values = [&](auto get) {
    std::vector<double> all;
    for (const traces::Thresholds& one : statistics.thresholds) all.push_back(get(one));
    return all;
  };
  const auto line = [](const char* name, const std::vector<double>& all) {
    return fmt::format("{:<7} {}  {:.4g} .. {:.4g}\n", name, sparkline(all, kSparkWidth),
                       std::ranges::min(all), std::ranges::max(all));
  };
  std::string text = "thresholds over the iterations\n";
  text += line("mean", values([](const traces::Thresholds& t) { return t.local.mean; }));
  text += line("least", values([](const traces::Thresholds& t) { return t.local.least; }));
  text += line("most", values([](const traces::Thresholds& t) { return t.local.most; }));
  if (statistics.thresholds.front().global) {
    text +=
        line("global", values([](const traces::Thresholds& t) { return t.global.value_or(0); }));
  }
  return text;
}

}  // namespace

std::vector<Json> trace_records(const std::string& path, const traces::TraceReader& reader,
                                const traces::TraceStatistics& statistics) {
  const traces::TraceHeader& header = reader.header();
  const bool one = reader.iterations().size() == 1;
  Json trace{
      {"kind", "trace"},
      {"trace", path},
      {"source", header.source},
      {"components", header.components},
      {"ranks", header.ranks},
      {"density", header.density},
      {"k", header.k()},
      {"seed", header.seed},
      {"residual_rule", header.residual_rule == traces::ResidualRule::all ? "all" : "oktopk"},
      {"layers", header.layers.size()},
      {"iterations", reader.iterations().size()},
      {"first_iteration", reader.iterations().front()},
      {"last_iteration", reader.iterations().back()},
      {"gradient_coordinates", 0},
      {"gradient_ranks", 0},
      {"gradient_iterations", 0},
      {"selected_least", statistics.selected.least},
      {"selected_mean", statistics.selected.mean},
      {"selected_most", statistics.selected.most},
      {"local_imbalance", statistics.local_imbalance},
      {"global_imbalance", statistics.global_imbalance},
      {"kept", one ? Json(nullptr) : Json(statistics.kept)},
      {"total_variation", statistics.total_variation},
      {"total_variation_by_chance", statistics.total_variation_by_chance}};
  if (reader.gradients()) {
    trace["gradient_coordinates"] = reader.gradients()->coordinates.size();
    trace["gradient_ranks"] = reader.gradients()->ranks;
    trace["gradient_iterations"] = reader.gradients()->iterations.size();
  }
  std::vector<Json> records{std::move(trace)};
  for (const traces::UnionDensity& density : statistics.unions) {
    records.push_back({{"kind", "union"},
                       {"ranks", density.ranks},
                       {"union_density", density.density},
                       {"independent_density", density.independent}});
  }
  for (const traces::ThresholdSteps& drift : statistics.drifts) {
    const bool none = drift.pairs == 0;
    records.push_back({{"kind", "drift"},
                       {"lag", drift.lag},
                       {"deviation", none ? Json(nullptr) : Json(drift.deviation)},
                       {"mean", none ? Json(nullptr) : Json(drift.mean)},
                       {"pairs", drift.pairs}});
  }
  for (std::size_t i = 0; i < header.layers.size(); ++i) {
    records.push_back({{"kind", "layer"},
                       {"name", header.layers[i].name},
                       {"first", header.layers[i].first},
                       {"size", header.layers[i].size},
                       {"layer_density", statistics.layer_density[i]}});
  }
  return records;
}

std::string trace_text(const std::vector<Json>& records,
                       const traces::TraceStatistics& statistics) {
  const std::vector<Json> unions = of_kind(records, "union");
  const std::vector<Json> layers = of_kind(records, "layer");
  std::string text = header_text(records.front());
  text += "\n" + to_table(unions, {column("ranks", "P"), column("union_density", "union density"),
                                   column("independent_density", "independent"),
                                   bar_column(unions, "union_density")});
  text += "\n" + threshold_text(statistics);
  text += "\n" + to_table(of_kind(records, "drift"),
                          {column("lag"), column("deviation", "sd ln threshold"), column("mean"),
                           column("pairs")});
  text += "\n" + to_table(layers, {column("name", "layer"), column("size", "components"),
                                   column("layer_density", "density"),
                                   bar_column(layers, "layer_density")});
  return text;
}

std::string bar(double share, int width) {
  static constexpr std::array kParts{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto eighths =
      static_cast<std::int64_t>(std::lround(std::clamp(share, 0.0, 1.0) * 8 * width));
  std::string text;
  for (std::int64_t i = 0; i < eighths / 8; ++i) text += "█";
  return text + kParts[static_cast<std::size_t>(eighths % 8)];
}

std::string sparkline(const std::vector<double>& values, std::size_t width) {
  static constexpr std::array kHeights{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const std::size_t count = std::min(width, values.size());
  std::vector<double> means;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t first = i * values.size() / count;
    const std::size_t last = (i + 1) * values.size() / count;
    double sum = 0;
    for (std::size_t at = first; at < last; ++at) sum += values[at];
    means.push_back(sum / static_cast<double>(last - first));
  }
  std::string text;
  if (means.empty()) return text;
  const auto [low, high] = std::ranges::minmax(means);
  for (const double mean : means) {
    const double share = high > low ? (mean - low) / (high - low) : 0.5;
    text += kHeights[static_cast<std::size_t>(std::lround(share * 7))];
  }
  return text;
}

}  // namespace thinwire::report
