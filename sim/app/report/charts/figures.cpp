#include "sim/app/report/charts/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "algorithms/registry.hpp"
#include "sim/app/plan/settings.hpp"
#include "sim/app/report/tables/formats.hpp"
#include "sim/app/report/tables/records.hpp"
#include "sim/app/results/compare.hpp"

namespace thinwire::report {

namespace {

/// The group of a row, as flat objects that are equal for rows that belong together.
struct Identity {
  Json label;
  Json place;
  Json setting;
  std::optional<double> density;
};

Identity identity_of(const results::Row& row) {
  const plan::Point& point = row.point;
  Identity identity;
  identity.place = {{"platform", point.platform}, {"network", point.network->name}};
  // The kind of input and of training come first: their settings exist for one kind only.
  const algorithms::SchemeInfo& scheme = *point.scheme;
  identity.setting = {
      {"collective", name_of(scheme.collective_kind)},
      {"model", point.workload.model.empty() ? Json("none") : Json(point.workload.model)},
      {"components", point.space.components},
      {"input", !point.input.trace.empty()     ? "trace"
                : !point.input.profile.empty() ? "profile"
                                               : "synthetic"}};
  for (const plan::Setting& setting : plan::point_settings()) {
    const std::optional<Json> value = setting.get ? setting.get(point) : std::nullopt;
    if (!value) continue;
    if (setting.aspect == plan::Aspect::place) {
      identity.place[setting.name()] = *value;
    } else if (setting.aspect == plan::Aspect::input) {
      identity.setting[setting.name()] = *value;
    } else if (setting.kind == plan::SettingKind::options) {
      identity.label.update(*value);
    } else if (setting.aspect == plan::Aspect::scheme) {
      identity.label[setting.name()] = *value;
    }
  }
  if (!scheme.dense) identity.density = given_density(point.k, point.space);
  return identity;
}

std::string density_text(const std::optional<double>& density) {
  return density ? fmt::format("{}", *density) : "-";
}

std::string curve_key(const Identity& identity) {
  return identity.label.dump() + identity.place.dump() + identity.setting.dump() +
         density_text(identity.density);
}

/// The granule and the version do not normally separate curves: automatic granules grow with the
/// ranks, and later versions complete sweeps. They do if a curve would otherwise have two results
/// for one number of ranks; versions then stand side by side in one panel.
void tell_apart(const std::vector<results::Row>& rows, std::vector<Identity>& identities) {
  struct Named {
    const char* key;
    Json Identity::*part;
    Json (*value)(const results::Row&);
  };
  const std::vector<Named> reserves{
      {"granule", &Identity::setting,
       [](const results::Row& row) { return Json(row.point.space.granule); }},
      {"version", &Identity::label, [](const results::Row& row) { return Json(row.version); }}};
  for (const Named& reserve : reserves) {
    std::map<std::string, std::set<std::string>> values;  // by curve and ranks
    std::set<std::string> ambiguous;                      // ambiguous curves
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::string curve = curve_key(identities[i]);
      auto& found = values[fmt::format("{} {}", curve, rows[i].point.ranks)];
      found.insert(reserve.value(rows[i]).dump());
      if (found.size() > 1) ambiguous.insert(curve);
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (!ambiguous.contains(curve_key(identities[i]))) continue;
      (identities[i].*reserve.part)[reserve.key] = reserve.value(rows[i]);
    }
  }
}

std::string plain(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_array()) return fmt::format("{} sizes", value.size());
  if (value.is_number_float()) return fmt::format("{}", value.get<double>());
  return value.dump();
}

/// Distinct objects, and a text for each that names its differences from others with the same keys.
class Names {
 public:
  std::size_t index_of(const Json& object) {
    const auto [known, added] = index_.emplace(object.dump(), objects_.size());
    if (added) objects_.push_back(object);
    return known->second;
  }

  [[nodiscard]] const std::vector<Json>& objects() const { return objects_; }

  /// The keys for which two objects of a group have different values, in key order.
  [[nodiscard]] std::vector<std::string> varying(
      const std::function<std::string(const Json&)>& group) const {
    std::map<std::string, Json> first;
    std::vector<std::string> keys;
    for (const Json& object : objects_) {
      for (const auto& item : object.items()) {
        const auto [known, added] = first.emplace(group(object) + "\n" + item.key(), item.value());
        if (added || known->second == item.value()) continue;
        if (std::ranges::find(keys, item.key()) == keys.end()) keys.push_back(item.key());
      }
    }
    return keys;
  }

 private:
  std::map<std::string, std::size_t> index_;
  std::vector<Json> objects_;
};

/// Numbers texts that would otherwise be equal.
std::vector<std::string> unique(std::vector<std::string> texts) {
  std::map<std::string, int> seen;
  for (std::string& text : texts) {
    const int times = ++seen[text];
    if (times > 1) text += fmt::format(" ({})", times);
  }
  return texts;
}

/// "133.5M": a count with four digits.
std::string count_words(double value) {
  for (const auto& [unit, factor] : {std::pair{"G", 1e9}, {"M", 1e6}, {"k", 1e3}}) {
    if (value >= factor) return fmt::format("{:.4g}{}", value / factor, unit);
  }
  return fmt::format("{:.4g}", value);
}

/// What follows the time of a parameter that is one per word.
std::string per_word(const std::string& key) { return key.ends_with("_per_word") ? "/word" : ""; }

/// "α" of "alpha_s"; empty for what is no time of the network.
std::string symbol_of_time(const std::string& key) {
  static const std::map<std::string, const char*> times{
      {"alpha_s", "α"},   {"beta_s_per_word", "β"}, {"gamma_s_per_word", "γ"},
      {"latency_s", "L"}, {"overhead_s", "o"},      {"time_resolution_s", "time resolution"}};
  const auto time = times.find(key);
  return time == times.end() ? "" : time->second;
}

std::string parameter_text(const std::string& key, const Json& value) {
  if (key == "components") return "n = " + count_words(value.get<double>());
  const std::string time = symbol_of_time(key);
  if (time.empty()) return fmt::format("{}={}", key, plain(value));
  return fmt::format("{} {}{}", time, seconds_text(value.get<double>()), per_word(key));
}

/// "1.0 to 1.25 µs": both ends in one unit, or one time where their three digits are the same.
std::string seconds_range_text(double least, double most) {
  std::string text = seconds_text(most);
  const std::size_t blank = text.find(' ');
  const double unit = most > 0 ? most / std::stod(text.substr(0, blank)) : 1;
  std::string from = fmt::format("{:.3g}", least / unit);
  std::string to = fmt::format("{:.3g}", most / unit);
  if (from == to) return text;
  if (from.find('.') == std::string::npos && to.find('.') != std::string::npos) from += ".0";
  if (to.find('.') == std::string::npos && from.find('.') != std::string::npos) to += ".0";
  return fmt::format("{} to {}{}", from, to, text.substr(blank));
}

std::string in_words(const Json& object, const std::vector<std::string>& keys,
                     const std::set<std::string>& left_out) {
  std::string text;
  for (const auto& item : object.items()) {
    if (left_out.contains(item.key()) || std::ranges::find(keys, item.key()) == keys.end())
      continue;
    if (!text.empty()) text += ", ";
    text += parameter_text(item.key(), item.value());
  }
  return text;
}

std::vector<std::string> label_texts(const Names& names) {
  const auto scheme_of = [](const Json& object) { return object.at("scheme").get<std::string>(); };
  const std::vector<std::string> keys = names.varying(scheme_of);
  std::vector<std::string> texts;
  for (const Json& object : names.objects()) {
    // Only the options that vary within this scheme are named.
    std::vector<std::string> own;
    for (const std::string& key : keys) {
      const bool varies = std::ranges::any_of(names.objects(), [&](const Json& other) {
        return scheme_of(other) == scheme_of(object) && object.contains(key) &&
               other.contains(key) && other.at(key) != object.at(key);
      });
      if (varies) own.push_back(key);
    }
    const std::string options = in_words(object, own, {"scheme"});
    texts.push_back(scheme_of(object) + (options.empty() ? "" : " " + options));
  }
  return unique(texts);
}

std::vector<std::string> place_texts(const Names& names) {
  const std::vector<std::string> keys =
      names.varying([](const Json& object) { return object.at("platform").get<std::string>(); });
  const auto all = [](const Json&) { return std::string(); };
  const std::vector<std::string> over_all = names.varying(all);
  const bool several_networks = std::ranges::find(over_all, "network") != over_all.end();
  std::vector<std::string> texts;
  for (const Json& object : names.objects()) {
    const auto platform = object.at("platform").get<std::string>();
    const auto network = object.at("network").get<std::string>();
    std::string text = platform.empty() ? network : platform;
    if (several_networks && !platform.empty()) text += " (" + network + ")";
    const std::string rest = in_words(object, keys, {"platform", "network"});
    if (!rest.empty()) text += " " + rest;
    texts.push_back(std::move(text));
  }
  return unique(texts);
}

std::vector<std::string> setting_texts(const Names& names) {
  const std::vector<std::string> keys = names.varying([](const Json&) { return std::string(); });
  std::vector<std::string> texts;
  for (const Json& object : names.objects()) texts.push_back(in_words(object, keys, {}));
  return unique(texts);
}

/// "n = 133.5M, α 2 µs": the essential settings that all results share.
std::string common_text(const std::vector<Json>& settings, const std::vector<Json>& places,
                        const std::vector<Curve>& curves, const std::vector<results::Row>& rows) {
  std::vector<std::string> texts;
  const auto add = [&](const std::vector<Json>& objects, const char* key) {
    const bool common = std::ranges::all_of(objects, [&](const Json& object) {
      return object.contains(key) && object.at(key) == objects.front().at(key);
    });
    if (!common || objects.empty() || objects.front().at(key) == "none") return;
    texts.push_back(parameter_text(key, objects.front().at(key)));
  };
  add(settings, "model");
  add(settings, "components");
  std::set<double> densities;
  for (const Curve& curve : curves) {
    if (curve.density) densities.insert(*curve.density);
  }
  if (densities.size() == 1) texts.push_back(fmt::format("density {}", *densities.begin()));
  const bool platforms = !places.empty() && std::ranges::all_of(places, [](const Json& place) {
    return !place.at("platform").get<std::string>().empty();
  });
  if (!platforms) {
    add(places, "alpha_s");
    add(places, "beta_s_per_word");
    return fmt::format("{}", fmt::join(texts, ", "));
  }
  // On a platform they are measured end to end, between the hosts that have ranks.
  const auto add_range = [&](const char* key, Seconds plan::Machine::*parameter) {
    std::set<double> values;
    for (const results::Row& row : rows) {
      if (row.outcome) values.insert((row.outcome->machine.*parameter).value());
    }
    if (values.empty()) return;
    texts.push_back(fmt::format("{} {}{}", symbol_of_time(key),
                                seconds_range_text(*values.begin(), *values.rbegin()),
                                per_word(key)));
  };
  add_range("alpha_s", &plan::Machine::alpha);
  add_range("beta_s_per_word", &plan::Machine::beta_per_word);
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::optional<double> number_at(const Json& record, const char* key) {
  const Json& value = record.at(key);
  if (!value.is_number() || !std::isfinite(value.get<double>())) return std::nullopt;
  return value.get<double>();
}

std::optional<ValueRange> interval_at(const Json& record, const char* low, const char* high) {
  const auto from = number_at(record, low);
  const auto to = number_at(record, high);
  if (!from || !to) return std::nullopt;
  return ValueRange{*from, *to};
}

CurvePoint point_of(const results::Row& row) {
  const results::Outcome& outcome = *row.outcome;
  const bool has_clock = row.point.network->has_clock;
  const Json record = record_of(row, compare(row, 1e-9));
  CurvePoint point;
  point.ranks = row.point.ranks;
  if (const double time = outcome.compared_time().value(); has_clock && std::isfinite(time)) {
    point.time_s = time;
  }
  point.parts_time_s = number_at(record, "time_s");
  if (number_at(record, "ratio_low")) {
    point.formula_s = interval_at(record, "paper_low_s", "paper_high_s");
  }
  point.words = static_cast<double>(std::max(outcome.words_sent.max, outcome.words_received.max));
  point.formula_words =
      interval_at(record, "formula_words_low", "formula_words_high").value_or(ValueRange{});
  point.congestion_factor = number_at(record, "congestion_factor");
  point.verdict = record.at("verdict").get<std::string>();
  point.far_from_k = selects_far_from_k(record);
  if (outcome.training) {
    const workloads::IterationParts& mean = outcome.training->mean;
    point.time_s = point.parts_time_s = mean.total().value();
    point.formula_s.reset();
    point.parts.push_back({"computation", mean.computation.value()});
    point.parts.push_back({"sparsification", mean.sparsification.value()});
    point.parts.push_back({"communication", mean.communication.value()});
    if (mean.tensor_parallel > Seconds(0)) {
      point.parts.push_back({"tensor_parallel", mean.tensor_parallel.value()});
    }
  } else if (has_clock) {
    for (const results::PhaseCost& phase : outcome.phases) {
      if (std::isfinite(phase.time.value())) {
        point.parts.push_back({phase.name, phase.time.value()});
      }
    }
  }
  return point;
}

void add_cells(Figures& figures) {
  using Where = std::tuple<std::size_t, std::size_t, int>;  // place, setting, ranks
  std::map<Where, std::map<std::optional<double>, std::vector<Cell::Candidate>>> found;
  for (const Curve& curve : figures.curves) {
    for (const CurvePoint& point : curve.points) {
      if (!point.time_s || point.far_from_k) continue;
      found[{curve.place, curve.setting, point.ranks}][curve.density].push_back(
          {curve.label, *point.time_s});
    }
  }
  for (auto& [where, by_density] : found) {
    const std::vector<Cell::Candidate> dense = by_density[std::nullopt];
    const bool only_dense = by_density.size() == 1;
    for (auto& [density, candidates] : by_density) {
      if (!density && !only_dense) continue;
      if (density) candidates.insert(candidates.end(), dense.begin(), dense.end());
      std::ranges::stable_sort(candidates, {}, &Cell::Candidate::time_s);
      const auto [place, setting, ranks] = where;
      figures.cells.push_back({place, setting, ranks, density, candidates});
    }
  }
}

/// Marks the label of a scheme that selects far from k in all of its points.
void mark_far_selections(Figures& figures) {
  std::vector<std::size_t> points(figures.labels.size());
  std::vector<std::size_t> far(figures.labels.size());
  for (const Curve& curve : figures.curves) {
    points[curve.label] += curve.points.size();
    far[curve.label] +=
        static_cast<std::size_t>(std::ranges::count_if(curve.points, &CurvePoint::far_from_k));
  }
  for (std::size_t label = 0; label < points.size(); ++label) {
    if (far[label] > 0 && far[label] == points[label]) {
      figures.labels[label] += " (selects far from k)";
    }
  }
}

/// Figures::leading, of the cells; `objects` are the labels' objects.
std::vector<std::size_t> leading_labels(const Figures& figures, const std::vector<Json>& objects) {
  constexpr std::size_t kMost = 10;
  std::vector<std::size_t> labels(figures.labels.size());
  std::iota(labels.begin(), labels.end(), 0);
  if (labels.size() <= kMost) return labels;
  std::vector<double> logs(labels.size());
  std::vector<double> cells(labels.size());
  for (const Cell& cell : figures.cells) {
    const double fastest = cell.candidates.front().time_s;
    for (const Cell::Candidate& candidate : cell.candidates) {
      if (!(fastest > 0)) continue;
      logs[candidate.label] += std::log(candidate.time_s / fastest);
      ++cells[candidate.label];
    }
  }
  // Labels without a time come last.
  std::ranges::stable_sort(labels, {}, [&](std::size_t label) {
    return cells[label] > 0 ? logs[label] / cells[label] : std::numeric_limits<double>::infinity();
  });
  // Schemes in reduced precision are dense too, but not what a sparse scheme has to beat.
  const auto dense = std::ranges::find_if(labels, [&](std::size_t label) {
    const algorithms::SchemeInfo& scheme =
        algorithms::find_scheme(objects[label].at("scheme").get<std::string>());
    return scheme.dense && !scheme.approximate;
  });
  const auto last = labels.begin() + kMost - 1;
  if (dense != labels.end() && dense > last) *last = *dense;
  labels.resize(kMost);
  std::ranges::sort(labels);
  return labels;
}

/// Renumbers the labels so that the leading ones come first: their colours differ.
void put_leading_first(Figures& figures) {
  std::vector<std::size_t> order = figures.leading;
  for (std::size_t label = 0; label < figures.labels.size(); ++label) {
    if (std::ranges::find(figures.leading, label) == figures.leading.end()) order.push_back(label);
  }
  std::vector<std::size_t> number(order.size());
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < order.size(); ++i) {
    number[order[i]] = i;
    labels.push_back(figures.labels[order[i]]);
  }
  figures.labels = std::move(labels);
  for (std::size_t& label : figures.leading) label = number[label];
  for (Curve& curve : figures.curves) curve.label = number[curve.label];
  for (Trouble& trouble : figures.troubles) trouble.label = number[trouble.label];
  for (Cell& cell : figures.cells) {
    for (Cell::Candidate& candidate : cell.candidates) candidate.label = number[candidate.label];
  }
}

Json interval_json(const ValueRange& interval) {
  return Json::array({interval.first, interval.second});
}

Json to_json(const CurvePoint& point) {
  Json parts = Json::array();
  for (const TimePart& part : point.parts) parts.push_back(Json::array({part.name, part.time_s}));
  return {{"ranks", point.ranks},
          {"time_s", optional_json(point.time_s)},
          {"formula_s", point.formula_s ? interval_json(*point.formula_s) : Json()},
          {"words", point.words},
          {"formula_words", interval_json(point.formula_words)},
          {"congestion_factor", optional_json(point.congestion_factor)},
          {"parts", parts},
          {"parts_time_s", optional_json(point.parts_time_s)},
          {"verdict", point.verdict}};
}

}  // namespace

double given_density(std::int64_t k, const GradientSpace& space) {
  const auto n = static_cast<double>(space.components);
  const double share = n > 0 ? static_cast<double>(k) / n : 0;
  // k was rounded down to granules: the given value lies at most a granule above.
  const double most = n > 0 ? static_cast<double>(k + space.granule) / n : 0;
  for (int digits = 1; digits < 17; ++digits) {
    // The shortest decimal may lie inside the range: 0.0099 .. 0.0101.
    for (const double from : {share, most}) {
      const double decimal = std::stod(fmt::format("{:.{}e}", from, digits - 1));
      const std::int64_t given = std::llround(decimal * n);
      if (given - given % space.granule == k) return decimal;
    }
  }
  return share;
}

Figures figures_of(const std::vector<results::Row>& rows) {
  std::vector<Identity> identities;
  identities.reserve(rows.size());
  for (const results::Row& row : rows) identities.push_back(identity_of(row));
  tell_apart(rows, identities);

  Figures figures;
  Names labels;
  Names places;
  Names settings;
  std::map<std::string, std::size_t> curves;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const results::Row& row = rows[i];
    const Identity& identity = identities[i];
    const std::size_t label = labels.index_of(identity.label);
    const std::size_t place = places.index_of(identity.place);
    const std::size_t setting = settings.index_of(identity.setting);
    if (!row.outcome) {
      Trouble& trouble = figures.troubles.emplace_back();
      trouble.status = row.status == results::Status::failed ? "failed" : "skipped";
      trouble.label = label;
      trouble.place = place;
      trouble.setting = setting;
      trouble.density = identity.density;
      trouble.ranks = row.point.ranks;
      trouble.reason = row.reason;
      continue;
    }
    const auto [known, added] = curves.emplace(curve_key(identity), figures.curves.size());
    if (added) {
      Curve& curve = figures.curves.emplace_back();
      curve.label = label;
      curve.place = place;
      curve.setting = setting;
      curve.density = identity.density;
    }
    // Two files hold the same result: the later one counts.
    std::vector<CurvePoint>& points = figures.curves[known->second].points;
    std::erase_if(points, [&](const CurvePoint& p) { return p.ranks == row.point.ranks; });
    points.push_back(point_of(row));
  }
  for (Curve& curve : figures.curves) std::ranges::sort(curve.points, {}, &CurvePoint::ranks);
  figures.common = common_text(settings.objects(), places.objects(), figures.curves, rows);
  figures.labels = label_texts(labels);
  figures.places = place_texts(places);
  figures.settings = setting_texts(settings);
  mark_far_selections(figures);
  add_cells(figures);
  figures.leading = leading_labels(figures, labels.objects());
  put_leading_first(figures);
  return figures;
}

Json to_json(const Figures& figures) {
  Json curves = Json::array();
  for (const Curve& curve : figures.curves) {
    Json points = Json::array();
    for (const CurvePoint& point : curve.points) points.push_back(to_json(point));
    curves.push_back({{"label", curve.label},
                      {"place", curve.place},
                      {"setting", curve.setting},
                      {"density", optional_json(curve.density)},
                      {"points", points}});
  }
  Json cells = Json::array();
  for (const Cell& cell : figures.cells) {
    Json candidates = Json::array();
    for (const Cell::Candidate& candidate : cell.candidates) {
      candidates.push_back(Json::array({candidate.label, candidate.time_s}));
    }
    cells.push_back({{"place", cell.place},
                     {"setting", cell.setting},
                     {"ranks", cell.ranks},
                     {"density", optional_json(cell.density)},
                     {"candidates", candidates}});
  }
  Json troubles = Json::array();
  for (const Trouble& trouble : figures.troubles) {
    troubles.push_back({{"status", trouble.status},
                        {"label", trouble.label},
                        {"place", trouble.place},
                        {"setting", trouble.setting},
                        {"density", optional_json(trouble.density)},
                        {"ranks", trouble.ranks},
                        {"reason", trouble.reason}});
  }
  return {{"labels", figures.labels},     {"common", figures.common}, {"places", figures.places},
          {"settings", figures.settings}, {"curves", curves},         {"cells", cells},
          {"leading", figures.leading},   {"troubles", troubles}};
}

}  // namespace thinwire::report
