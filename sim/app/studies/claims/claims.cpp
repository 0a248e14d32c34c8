#include "sim/app/studies/claims/claims.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <ranges>
#include <regex>
#include <string_view>
#include <utility>

#include "sim/app/run/executor.hpp"
#include "sim/app/run/simulate.hpp"
#include "sim/app/studies/claims/trials.hpp"
#include "sim/core/base/child_process.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/files.hpp"
#include "sim/core/base/json_node.hpp"
#include "sim/core/base/nearest.hpp"
#include "sim/core/base/printable.hpp"
#include "sim/core/base/shipped_files.hpp"
#include "sim/machine/workloads/device.hpp"
#include "sim/machine/workloads/model.hpp"
#include "topologies/loading/shipped.hpp"

namespace thinwire::studies {

namespace {

ClaimChecks all_checks() {
  ClaimChecks all = oktopk_claims();
  for (const ClaimChecks& more : {sparcml_claims(), exdyna_claims(), dragonn_claims(), zen_claims(),
                                  spardl_claims(), omnireduce_claims(), powersgd_claims(),
                                  micro_claims(), deft_claims(), sparseloco_claims()}) {
    all.insert(more.begin(), more.end());
  }
  return all;
}

/// The ids that begin with one of `wanted`.
std::vector<std::string> ids_of(const std::vector<std::string>& all,
                                const std::vector<std::string>& wanted) {
  for (const std::string& begin : wanted) {
    if (begin.empty() ||
        std::ranges::none_of(all, [&](const std::string& id) { return id.starts_with(begin); })) {
      throw InputError(fmt::format("no claim's id begins with '{}'{}", excerpt(begin),
                                   did_you_mean(begin, all)));
    }
  }
  std::vector<std::string> ids = all;
  std::erase_if(ids, [&](const std::string& id) {
    return !wanted.empty() && std::ranges::none_of(wanted, [&](const std::string& begin) {
      return id.starts_with(begin);
    });
  });
  return ids;
}

/// True if a value meets the finding's criterion. Orders have no value.
bool meets(const Finding& finding, double value) {
  if (finding.kind == FindingKind::at_most) return value <= *finding.paper;
  if (finding.kind == FindingKind::at_least) return value >= *finding.paper;
  const double ratio = value / *finding.paper;
  return ratio <= 1 + kClaimTolerance && ratio >= 1 - kClaimTolerance;
}

}  // namespace

std::optional<double> Finding::ratio() const {
  if (!paper || !simulated || *paper == 0) return std::nullopt;
  return *simulated / *paper;
}

Finding& Finding::against(std::string model, double value) {
  null_model = std::move(model);
  null_value = value;
  return *this;
}

void Finding::take_end(const std::string& end, const Finding& there) {
  if (there.verdict == ClaimVerdict::not_simulated) return;
  if (simulated && there.simulated && *simulated != *there.simulated) {
    range_low = std::min({range_low.value_or(*simulated), *simulated, *there.simulated});
    range_high = std::max({range_high.value_or(*simulated), *simulated, *there.simulated});
  }
  if (verdict == ClaimVerdict::holds && there.verdict == ClaimVerdict::misses)
    misses_at.push_back(end);
}

std::optional<bool> Finding::null_holds() const {
  if (!paper || !null_value) return std::nullopt;
  return meets(*this, *null_value);
}

bool Finding::informative() const { return basis == Basis::predicted && null_holds() == false; }

bool Finding::at_border() const {
  if (!informative() || kind != FindingKind::number) return false;
  const auto near = [&](std::optional<double> value) {
    if (!value) return false;
    const double ratio = *value / *paper;
    return std::abs(ratio / (1 - kClaimTolerance) - 1) < kBorder ||
           std::abs(ratio / (1 + kClaimTolerance) - 1) < kBorder;
  };
  return near(null_value) || near(simulated);
}

std::string name_of(Basis basis) {
  constexpr std::array kNames{"formula", "calibrated", "predicted"};
  return kNames.at(static_cast<std::size_t>(basis));
}

std::string name_of(FindingKind kind) {
  constexpr std::array kNames{"number", "at most", "at least", "order"};
  return kNames.at(static_cast<std::size_t>(kind));
}

std::string name_of(ClaimVerdict verdict) {
  constexpr std::array kNames{"holds", "misses", "not simulated"};
  return kNames.at(static_cast<std::size_t>(verdict));
}

ClaimCounts count(const std::vector<Finding>& findings, FindingKind kind, Basis basis) {
  ClaimCounts counts;
  for (const Finding& finding : findings) {
    if (finding.kind != kind || finding.basis != basis) continue;
    if (finding.verdict == ClaimVerdict::not_simulated) continue;
    ++counts.of;
    if (finding.verdict == ClaimVerdict::holds) ++counts.hold;
  }
  return counts;
}

ClaimScore score(const std::vector<Finding>& findings) {
  ClaimScore score;
  const auto add = [](ClaimCounts& counts, const Finding& finding) {
    ++counts.of;
    if (finding.verdict == ClaimVerdict::holds) ++counts.hold;
  };
  for (const Finding& finding : findings) {
    if (finding.kind != FindingKind::number || finding.basis != Basis::predicted) continue;
    if (finding.verdict == ClaimVerdict::not_simulated) continue;
    add(score.predicted, finding);
    if (finding.range_low) {
      ++score.over_ranges.of;
      const bool everywhere = finding.misses_at.empty() && finding.verdict == ClaimVerdict::holds;
      score.over_ranges.hold += everywhere ? 1 : 0;
    }
    if (finding.at_border()) add(score.at_border, finding);
    const std::optional<bool> null_holds = finding.null_holds();
    add(!null_holds   ? score.without_null
        : *null_holds ? score.trivial
                      : score.informative,
        finding);
  }
  return score;
}

results::Row run_claims_point(const plan::Point& point) {
  return run::simulate_point("claims", point, {.at_once = default_processes()});
}

std::string claims_file() {
  constexpr ShippedFiles kClaims{.what = "collection of claims",
                                 .extension = ".json",
                                 .in_source = "sim/app/studies/claims",
                                 .in_share = "claims"};
  return kClaims.file("claims");
}

std::vector<std::string> claim_ids() {
  return Trials(read_json(claims_file()), run_claims_point).ids();
}

std::vector<std::string> claim_ids(const std::vector<std::string>& wanted) {
  return ids_of(claim_ids(), wanted);
}

std::vector<Finding> check_claims(const std::vector<std::string>& wanted,
                                  const std::function<void(const std::string&)>& progress,
                                  const PointRunner& runner, bool ranges) {
  Trials trials(read_json(claims_file()), runner);
  const std::vector<std::string> ids = ids_of(trials.ids(), wanted);
  const ClaimChecks checks = all_checks();
  std::vector<Finding> findings;
  const auto check_over_ranges = [&](ClaimCheck simulate, const std::string& id,
                                     std::size_t first) {
    for (const Assumption& end : trials.ends_of_used()) {
      Trials elsewhere = trials;  // with the rows that do not depend on it
      elsewhere.assume(end);
      std::vector<Finding> others;
      ClaimPage page(trials.claim(id), others);
      simulate(elsewhere, page);
      for (std::size_t i = 0; i < others.size(); ++i) {
        findings.at(first + i).take_end(end.text(), others[i]);
      }
    }
  };
  for (const std::string& id : ids) {
    if (progress) progress(id);
    ClaimPage page(trials.claim(id), findings);
    const auto found = checks.find(id);
    if (found == checks.end()) {
      page.not_simulated("", "nothing here simulates it");
      continue;
    }
    const std::size_t first = findings.size();
    static_cast<void>(trials.ends_of_used());
    found->second(trials, page);
    if (ranges) check_over_ranges(found->second, id, first);
  }
  return findings;
}

namespace {

Json packed(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

std::optional<double> unpacked(const Json& value) {
  return value.is_null() ? std::nullopt : std::optional(value.get<double>());
}

/// A finding as a child process sends it.
Json packed(const Finding& f) {
  return {f.claim,
          f.what,
          f.source,
          f.kind,
          f.basis,
          packed(f.paper),
          packed(f.simulated),
          f.unit,
          f.verdict,
          f.note,
          f.null_model,
          packed(f.null_value),
          packed(f.range_low),
          packed(f.range_high),
          f.misses_at};
}

Finding finding_from(const Json& packed) {
  return {.claim = packed.at(0),
          .what = packed.at(1),
          .source = packed.at(2),
          .kind = packed.at(3),
          .basis = packed.at(4),
          .paper = unpacked(packed.at(5)),
          .simulated = unpacked(packed.at(6)),
          .unit = packed.at(7),
          .verdict = packed.at(8),
          .note = packed.at(9),
          .null_model = packed.at(10),
          .null_value = unpacked(packed.at(11)),
          .range_low = unpacked(packed.at(12)),
          .range_high = unpacked(packed.at(13)),
          .misses_at = packed.at(14)};
}

}  // namespace

std::vector<Finding> check_claims_at_once(
    const std::vector<std::string>& wanted,
    const std::function<void(const std::string& paper)>& progress, bool ranges) {
  std::vector<std::string> papers;  // in the order of the file, in which their claims are together
  std::vector<std::vector<std::string>> ids;
  for (const std::string& id : claim_ids(wanted)) {
    const std::string paper = id.substr(0, id.find('.'));
    if (papers.empty() || papers.back() != paper) {
      papers.push_back(paper);
      ids.emplace_back();
    }
    ids.back().push_back(id);
  }
  std::vector<run::Job> jobs;
  for (const std::vector<std::string>& of_paper : ids) {
    const auto check = [&of_paper, ranges] {
      Json all = Json::array();
      for (const Finding& finding : check_claims(of_paper, {}, run_claims_point, ranges)) {
        all.push_back(packed(finding));
      }
      return all.dump();
    };
    jobs.push_back({.work = {.run = check}, .expected_s = static_cast<double>(of_paper.size())});
  }
  std::vector<std::vector<Finding>> found(jobs.size());
  const auto take = [&](std::size_t job, const ChildProcess& process) {
    for (const Json& finding : Json::parse(process.outcome().text)) {
      found[job].push_back(finding_from(finding));
    }
  };
  run::run_jobs(jobs, {.at_once = default_processes()},
                {.started = [&](std::size_t job) { progress(papers[job]); }, .ended = take});
  std::vector<Finding> findings;
  for (std::vector<Finding>& of_paper : found)
    std::ranges::move(of_paper, std::back_inserter(findings));
  return findings;
}

double Trials::calibrated(const std::string& name) const {
  return facts_.at("calibrations").at(name).at("value").get<double>();
}

double Trials::assumed(const std::string& name, const std::string& key) const {
  used_.insert(name);
  if (key == "value" && assumption_ && assumption_->name == name) return assumption_->value;
  return facts_.at("assumed").at(name).at(key).get<double>();
}

bool Trials::is_repriced(const std::string& device) const {
  return assumption_ && facts_.at("assumed").at(assumption_->name).value("device", "") == device;
}

WorkPrices Trials::prices(const std::string& device, bool staging) const {
  for (const auto& fact : facts_.at("assumed").items()) {
    if (fact.value().value("device", "") == device) used_.insert(fact.key());
  }
  const std::string file = is_repriced(device) ? device_->path() : workloads::kDevices.file(device);
  return workloads::read_device(file).prices(staging);
}

void Trials::assume(Assumption assumption) {
  const Json& fact = facts_.at("assumed").at(assumption.name);
  if (fact.contains("device")) {
    const std::string device = fact.at("device").get<std::string>();
    Json copy = read_json(workloads::kDevices.file(device));
    copy.at(Json::json_pointer(fact.at("price").get<std::string>())) = assumption.value;
    device_ = std::make_shared<TemporaryFile>(copy.dump());
  }
  assumption_ = std::move(assumption);
}

std::vector<Assumption> Trials::ends_of_used() {
  std::vector<Assumption> ends;
  for (const std::string& name : used_) {
    const Json& fact = facts_.at("assumed").at(name);
    if (!fact.contains("low")) continue;
    for (const char* end : {"low", "high"}) ends.push_back({name, fact.at(end).get<double>()});
  }
  used_.clear();
  return ends;
}

std::vector<std::string> Trials::prices_in(const Json& point) const {
  std::vector<std::string> prices;
  if (!point.contains("workload")) return prices;
  for (const auto& fact : facts_.at("assumed").items()) {
    if (!fact.value().contains("device")) continue;
    if (fact.value().at("device") != point.at("workload").value("device", "")) continue;
    const Json schemes = fact.value().value("schemes", Json::array());
    if (std::ranges::find(schemes, point.at("scheme")) != schemes.end()) {
      prices.push_back(fact.key());
    }
  }
  return prices;
}

Json Trials::repriced(Json point) const {
  const std::vector<std::string> prices = prices_in(point);
  used_.insert(prices.begin(), prices.end());
  if (assumption_ && std::ranges::find(prices, assumption_->name) != prices.end()) {
    point["workload"]["device"] = device_->path();
  }
  return point;
}

std::string Assumption::text() const { return fmt::format("{} = {:.3g}", name, value); }

TemporaryFile::TemporaryFile(const std::string& text, const std::string& suffix) {
  std::string name =
      (std::filesystem::temp_directory_path() / ("thinwire-XXXXXX" + suffix)).string();
  const int file = mkstemps(name.data(), static_cast<int>(suffix.size()));
  if (file < 0) throw InputError(fmt::format("{}: cannot be made", name));
  close(file);
  path_ = name;
  write_text(path_, text);
}

TemporaryFile::~TemporaryFile() {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

std::string with_bandwidth(const std::string& xml, const std::string& link, double bytes_per_s) {
  const std::regex bandwidth(fmt::format(R"((<link id="{}[0-9]+" bandwidth=")[^"]*)", link));
  if (!std::regex_search(xml, bandwidth)) {
    throw InputError(fmt::format("the platform has no link '{}' with a number", link));
  }
  return std::regex_replace(xml, bandwidth, fmt::format("$01{}Bps", bytes_per_s));
}

std::string Trials::retimed_platform(const std::string& platform, const std::string& link,
                                     std::optional<double> bytes_per_s) {
  const std::string name = fmt::format("{}.{}_bytes_per_s", platform, link);
  const double rate = bytes_per_s ? *bytes_per_s : calibrated(name);
  std::shared_ptr<TemporaryFile>& copy = platforms_[fmt::format("{} {}", name, rate)];
  if (!copy) {
    const std::string xml = read_text(topologies::kPlatforms.file(platform));
    copy = std::make_shared<TemporaryFile>(with_bandwidth(xml, link, rate), ".xml");
  }
  return copy->path();
}

std::string Trials::retimed_model(const std::string& model, const std::string& device,
                                  double factor) {
  if (factor == 1) return model;
  Json copy = read_json(workloads::kModels.file(model));
  for (Json& compute : copy.at("compute")) {
    if (compute.at("device") != device) continue;
    compute.at("seconds") = factor * compute.at("seconds").get<double>();
  }
  std::shared_ptr<TemporaryFile>& file = models_[copy.dump()];
  if (!file) file = std::make_shared<TemporaryFile>(copy.dump());
  return file->path();
}

const results::Row& Trials::run(const Json& given) {
  const Json point = repriced(given);
  const std::string key = point.dump();
  const auto known = rows_.find(key);
  if (known != rows_.end()) return known->second;
  results::Row row = runner_(plan::point_from(point, "claims"));
  if (row.status != results::Status::ok) {
    throw SimulationError(fmt::format("{}: {}", key, row.reason));
  }
  return rows_.emplace(key, std::move(row)).first->second;
}

const Json& Trials::claim(const std::string& id) const {
  const Json& claims = facts_.at("claims");
  return *std::ranges::find_if(claims, [&](const Json& claim) { return claim.at("id") == id; });
}

std::vector<std::string> Trials::ids() const {
  std::vector<std::string> ids;
  for (const Json& claim : facts_.at("claims")) ids.push_back(claim.at("id").get<std::string>());
  return ids;
}

double ClaimPage::paper(const std::string& pointer) const {
  return claim_.at(Json::json_pointer(pointer)).get<double>();
}

Finding& ClaimPage::add(const std::string& what, FindingKind kind, Basis basis) {
  // A braced temporary is avoided: GCC 12's AddressSanitizer reports a false mismatch when it is
  // destroyed.
  Finding& finding = findings_.emplace_back();
  finding.claim = claim_.at("id").get<std::string>();
  finding.what = what;
  finding.source = fmt::format("{}, {}", claim_.at("source").get<std::string>(),
                               claim_.at("where").get<std::string>());
  finding.kind = kind;
  finding.unit = kind == FindingKind::order ? "" : claim_.value("unit", "");
  finding.basis = basis;
  return finding;
}

Finding& ClaimPage::judged(FindingKind kind, const std::string& what, double paper,
                           double simulated, Basis basis, const std::string& note) {
  Finding& finding = add(what, kind, basis);
  finding.paper = paper;
  finding.simulated = simulated;
  finding.note = note;
  finding.verdict = meets(finding, simulated) ? ClaimVerdict::holds : ClaimVerdict::misses;
  return finding;
}

Finding& ClaimPage::order(const std::string& what, bool holds, const std::string& note,
                          Basis basis) {
  Finding& finding = add(what, FindingKind::order, basis);
  finding.note = note;
  finding.verdict = holds ? ClaimVerdict::holds : ClaimVerdict::misses;
  return finding;
}

void ClaimPage::not_simulated(const std::string& what, const std::string& why) {
  add(what, FindingKind::number, Basis::predicted).note = why;
}

double time_in(const results::Outcome& outcome, const std::vector<std::string>& phases) {
  std::map<int, double> by_rank;
  double most = 0;
  for (const results::RankPhase& phase : outcome.by_rank) {
    if (std::ranges::find(phases, phase.phase) == phases.end()) continue;
    double& sum = by_rank[phase.rank];
    sum += phase.traffic.time.value();
    most = std::max(most, sum);
  }
  return most;
}

}  // namespace thinwire::studies
