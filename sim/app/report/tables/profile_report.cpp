#include "sim/app/report/tables/profile_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/app/report/tables/trace_report.hpp"

namespace thinwire::report {

namespace {

constexpr int kPlotWidth = 40;

Column percent_column(const char* heading, const char* key) {
  return {heading,
          [key](const Json& r) { return fmt::format("{:.4g} %", 100 * r.at(key).get<double>()); }};
}

Json error_record(const char* what, double trace, double profile) {
  return {{"kind", "error"},
          {"what", what},
          {"trace", trace},
          {"profile", profile},
          {"error", trace == 0 ? Json(nullptr) : Json(profile / trace - 1)}};
}

}  // namespace

std::vector<Json> profile_records(const traces::Profile& profile) {
  double least = profile.regions.front().density;
  double most = least;
  for (const traces::ProfileRegion& region : profile.regions) {
    least = std::min(least, region.density);
    most = std::max(most, region.density);
  }
  std::vector<Json> records{{{"kind", "profile"},
                             {"name", profile.name},
                             {"source", profile.source},
                             {"components", profile.components},
                             {"density", profile.density},
                             {"layers", profile.layers.size()},
                             {"regions", profile.regions.size()}}};
  const auto add = [&](const std::string& entry, const Json& value) {
    const auto provenance = profile.provenance.find(entry);
    const bool known = provenance != profile.provenance.end();
    records.push_back({{"kind", "entry"},
                       {"entry", entry},
                       {"value", value},
                       {"provenance", known ? provenance->second.kind : ""},
                       {"from", known ? provenance->second.from : ""}});
  };
  add("layers", profile.layers.size());
  add("regions", fmt::format("{:.3g} .. {:.3g}", least, most));
  const Json numbers = traces::numbers_of(profile);
  for (const std::string& entry : traces::profile_entries()) {
    const std::size_t dot = entry.find('.');
    if (dot == std::string::npos) continue;
    add(entry, numbers.at(entry.substr(0, dot)).at(entry.substr(dot + 1)));
  }
  return records;
}

std::string profile_text(const std::vector<Json>& records) {
  const Json& profile = records.front();
  std::string text =
      fmt::format("{}: {}\nn = {}, density {}, {} layers, {} regions\n\n",
                  profile.at("name").get<std::string>(), profile.at("source").get<std::string>(),
                  number_text(profile.at("components"), 12), number_text(profile.at("density")),
                  number_text(profile.at("layers")), number_text(profile.at("regions")));
  return text + to_table(of_kind(records, "entry"), {column("entry"), column("value"),
                                                     column("provenance", "is"), column("from")});
}

std::vector<Json> fit_records(const traces::ProfileFit& fit) {
  std::vector<Json> records = profile_records(fit.profile);
  for (const traces::FittedUnion& one : fit.unions) {
    records.push_back({{"kind", "union"},
                       {"ranks", one.ranks},
                       {"trace", one.trace},
                       {"copula", one.copula},
                       {"beta", one.beta},
                       {"copula_error", one.copula / one.trace - 1},
                       {"beta_error", one.beta / one.trace - 1}});
  }
  for (const traces::FittedIncrement& one : fit.increments) {
    records.push_back(
        {{"kind", "increment"}, {"lag", one.lag}, {"trace", one.trace}, {"profile", one.profile}});
  }
  records.push_back(error_record("imbalance", fit.imbalance_trace, fit.imbalance_profile));
  records.push_back({{"kind", "error"},
                     {"what", "magnitudes"},
                     {"trace", nullptr},
                     {"profile", nullptr},
                     {"error", fit.magnitude_distance}});
  return records;
}

std::string fit_text(const std::vector<Json>& records) {
  std::string text = profile_text(records);
  text +=
      "\n" + to_table(of_kind(records, "union"),
                      {column("ranks", "P"), percent_column("union, trace", "trace"),
                       percent_column("copula", "copula"), percent_column("off", "copula_error"),
                       percent_column("Beta", "beta"), percent_column("off", "beta_error")});
  const std::vector<Json> increments = of_kind(records, "increment");
  if (!increments.empty()) {
    text += "\n" + to_table(increments, {column("lag"), column("trace", "sd ln threshold, trace"),
                                         column("profile")});
  }
  for (const Json& error : of_kind(records, "error")) {
    if (error.at("what") == "imbalance") {
      text += fmt::format("\nmost of 64 parts over the mean: {} in the trace, {} by the profile\n",
                          number_text(error.at("trace"), 4), number_text(error.at("profile"), 4));
    } else {
      text += fmt::format(
          "magnitudes above the threshold: {} from the stretched exponential at "
          "most (Kolmogorov-Smirnov)\n",
          number_text(error.at("error"), 3));
    }
  }
  return text;
}

std::vector<Json> fill_in_records(const traces::Profile& profile, double density,
                                  const std::vector<double>& ranks) {
  std::vector<Json> records;
  for (const double count : ranks) {
    const double copula =
        traces::union_density(profile, traces::PopularityFamily::copula, density, count);
    const double beta =
        traces::union_density(profile, traces::PopularityFamily::beta, density, count);
    records.push_back({{"kind", "fill-in"},
                       {"profile", profile.name},
                       {"density", density},
                       {"ranks", count},
                       {"copula", copula},
                       {"beta", beta},
                       {"low", std::min(copula, beta)},
                       {"high", std::max(copula, beta)},
                       {"independent", -std::expm1(count * std::log1p(-density))}});
  }
  return records;
}

std::string fill_in_text(const std::vector<Json>& records) {
  const auto plot = [](const Json& r) {
    const auto low = static_cast<int>(std::lround(r.at("low").get<double>() * kPlotWidth));
    const auto high = static_cast<int>(std::lround(r.at("high").get<double>() * kPlotWidth));
    std::string text = bar(static_cast<double>(low) / kPlotWidth, kPlotWidth);
    for (int i = low; i < high; ++i) text += "░";
    return text;
  };
  const auto range = [](const Json& r) {
    return fmt::format("{:.3g} .. {:.3g} %", 100 * r.at("low").get<double>(),
                       100 * r.at("high").get<double>());
  };
  return to_table(records, {column("ranks", "P"),
                            percent_column("copula", "copula"),
                            percent_column("Beta", "beta"),
                            {"fill-in", range},
                            percent_column("independent", "independent"),
                            {"", plot}});
}

}  // namespace thinwire::report
