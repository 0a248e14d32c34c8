// Shared tools of the claims' functions: the papers' figures, and memoised runs.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/app/studies/claims/claims.hpp"
#include "sim/core/kernel/work_prices.hpp"

namespace thinwire::studies {

/// A file that is removed with this object.
class TemporaryFile {
 public:
  /// Throws InputError if it cannot be written.
  explicit TemporaryFile(const std::string& text, const std::string& suffix = ".json");
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// A platform whose links of a name (`nic0`, `nic1` ... of "nic") have another bandwidth. Throws
/// InputError if it has none.
[[nodiscard]] std::string with_bandwidth(const std::string& xml, const std::string& link,
                                         double bytes_per_s);

/// An assumed constant that has a range, and what it is set to.
struct Assumption {
  std::string name;
  double value = 0;

  [[nodiscard]] std::string text() const;  ///< "greina_ib.alpha_s = 2e-06"
};

class Trials {
 public:
  Trials(Json facts, PointRunner runner) : facts_(std::move(facts)), runner_(std::move(runner)) {}

  /// The value of a calibrated or an assumed parameter.
  [[nodiscard]] double calibrated(const std::string& name) const;
  [[nodiscard]] double assumed(const std::string& name, const std::string& key = "value") const;

  /// The prices of a shipped device, one of them at the end of its range if that is assumed.
  [[nodiscard]] WorkPrices prices(const std::string& device, bool staging = false) const;

  /// Sets an assumed constant to another value. Later runs use it.
  void assume(Assumption assumption);
  /// The ends of the ranges of all constants that were used since the last call.
  [[nodiscard]] std::vector<Assumption> ends_of_used();

  /// The path of a copy of a shipped platform with another bandwidth on its links of a name: the
  /// calibrated "PLATFORM.LINK_bytes_per_s" if none is given.
  [[nodiscard]] std::string retimed_platform(const std::string& platform, const std::string& link,
                                             std::optional<double> bytes_per_s = {});

  /// A shipped model, or the path of a copy whose computing time on the device is so many times as
  /// long.
  [[nodiscard]] std::string retimed_model(const std::string& model, const std::string& device,
                                          double factor);

  /// Runs a point, or returns its earlier row. Throws SimulationError if it fails.
  const results::Row& run(const Json& given);
  const results::Outcome& outcome(const Json& point) { return *run(point).outcome; }
  const results::TrainingOutcome& train(const Json& point) { return *outcome(point).training; }

  [[nodiscard]] const Json& claim(const std::string& id) const;
  /// The ids of all claims.
  [[nodiscard]] std::vector<std::string> ids() const;

 private:
  /// True if an assumed price of that device is set to another value.
  [[nodiscard]] bool is_repriced(const std::string& device) const;
  /// The assumed prices of devices that a run of the point would use.
  [[nodiscard]] std::vector<std::string> prices_in(const Json& point) const;
  /// The point on a copy of its device with the assumed price, in a file.
  [[nodiscard]] Json repriced(Json point) const;

  Json facts_;
  PointRunner runner_;
  std::optional<Assumption> assumption_;
  std::shared_ptr<TemporaryFile> device_;  // the copy of a device that repriced() names
  std::map<std::string, std::shared_ptr<TemporaryFile>> platforms_;  // by link and bandwidth
  std::map<std::string, std::shared_ptr<TemporaryFile>> models_;     // by their text
  mutable std::set<std::string> used_;
  std::map<std::string, results::Row> rows_;
};

/// The findings of one claim.
class ClaimPage {
 public:
  ClaimPage(const Json& claim, std::vector<Finding>& findings)
      : claim_(claim), findings_(findings) {}

  // Each function returns its finding, which is valid until the next one is added.

  /// The paper's number at a JSON pointer of the claim ("/value").
  [[nodiscard]] double paper(const std::string& pointer) const;
  Finding& number(const std::string& what, const std::string& pointer, double simulated,
                  Basis basis = Basis::predicted, const std::string& note = {}) {
    return judged(FindingKind::number, what, paper(pointer), simulated, basis, note);
  }
  Finding& at_most(const std::string& what, const std::string& pointer, double simulated,
                   Basis basis = Basis::predicted, const std::string& note = {}) {
    return judged(FindingKind::at_most, what, paper(pointer), simulated, basis, note);
  }
  Finding& at_least(const std::string& what, const std::string& pointer, double simulated,
                    Basis basis = Basis::predicted, const std::string& note = {}) {
    return judged(FindingKind::at_least, what, paper(pointer), simulated, basis, note);
  }
  /// Adds a number that the claim's text states.
  Finding& stated(const std::string& what, double paper, double simulated,
                  Basis basis = Basis::predicted, const std::string& note = {}) {
    return judged(FindingKind::number, what, paper, simulated, basis, note);
  }
  Finding& order(const std::string& what, bool holds, const std::string& note,
                 Basis basis = Basis::predicted);
  void not_simulated(const std::string& what, const std::string& why);

 private:
  Finding& add(const std::string& what, FindingKind kind, Basis basis);
  Finding& judged(FindingKind kind, const std::string& what, double paper, double simulated,
                  Basis basis, const std::string& note);

  const Json& claim_;
  std::vector<Finding>& findings_;
};

/// A function that simulates a claim.
using ClaimCheck = void (*)(Trials& trials, ClaimPage& page);
using ClaimChecks = std::map<std::string, ClaimCheck>;

[[nodiscard]] ClaimChecks oktopk_claims();
[[nodiscard]] ClaimChecks sparcml_claims();
[[nodiscard]] ClaimChecks exdyna_claims();
[[nodiscard]] ClaimChecks dragonn_claims();
[[nodiscard]] ClaimChecks powersgd_claims();
[[nodiscard]] ClaimChecks micro_claims();
[[nodiscard]] ClaimChecks deft_claims();
[[nodiscard]] ClaimChecks sparseloco_claims();
[[nodiscard]] ClaimChecks zen_claims();
[[nodiscard]] ClaimChecks spardl_claims();
[[nodiscard]] ClaimChecks omnireduce_claims();

/// The longest time that a rank spent in these phases together, in the reported iteration. The
/// point must record its ranks.
[[nodiscard]] double time_in(const results::Outcome& outcome,
                             const std::vector<std::string>& phases);

}  // namespace thinwire::studies
