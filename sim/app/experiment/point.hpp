// One simulation, with everything that determines it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "algorithms/scheme.hpp"
#include "sim/core/base/json.hpp"
#include "sim/core/base/units.hpp"
#include "sim/core/gradient/space.hpp"
#include "sim/machine/networks/links/settings.hpp"
#include "traces/profile.hpp"
#include "traces/trace.hpp"

namespace thinwire::experiment {

/// The α-β machine of a point.
struct Machine {
  Seconds alpha{2e-6};           ///< LogGP's g
  Seconds beta_per_word{4e-10};  ///< LogGP's G; 10 GB/s
  Seconds gamma_per_word{0};
  Seconds latency{0};
  Seconds overhead{0};
};

/// Where gradients come from: made up, by default.
struct Input {
  /// Name of a shipped trace or path of one; empty: gradients are made by the rest.
  std::string trace;
  /// Name of a shipped profile or path of one: gradients as it describes them. The others below are
  /// for made up ones.
  std::string profile;
  traces::PopularityFamily family =
      traces::PopularityFamily::copula;  ///< of the profile's popularity
  bool statistical = false;              ///< counts instead of entries
  bool start_up = false;                 ///< iterations are the first ones of a training
  double reach = 8;                      ///< entries: an accumulator holds so many times k; 0: all
  double overlap = 0.2;
  double skew = 0;
  double drift = 0.01;
  double tail = 0.25;
  double scale_drift = 0;
};

/// A whole iteration of a training around the allreduce. Off without a model.
struct Workload {
  std::string model;       ///< name of a shipped model or path of one
  std::string device;      ///< name of a shipped device or path of one
  std::int64_t batch = 0;  ///< samples a rank; 0: the model's own on this device
  bool staging = false;    ///< messages are sent from the host's memory, not the GPU's
};

/// What a run keeps beyond totals and phases.
struct Record {
  bool links = false;  ///< what crossed each link of the platform (networks links, smpi)
  bool ranks = false;  ///< the phases of every rank
};

/// One simulation, as the user describes it.
struct Point {
  std::string scheme = "oktopk";
  std::map<std::string, algorithms::OptionValue>
      options;  ///< all of the scheme's, with their defaults
  std::string network = "alphabeta";
  Machine machine;
  /// Name of a shipped platform or path of an XML; empty without one. The α-β machine takes its α
  /// and β from it then, end to end.
  std::string platform;
  std::string placement =
      "block";  ///< of ranks on the platform's hosts, see topologies/loading/placement.hpp
  Seconds time_resolution{0};  ///< network smpi: 0 is as exact as it goes
  int flows_per_port = 0;      ///< network smpi: 0 shares ports among all flows
  bool packets = false;        ///< network smpi: ns-3 instead of flows
  networks::LinksSettings
      links;  ///< network links; what is recorded, and the seed, are the point's
  Record record;
  int ranks = 16;
  GradientSpace space{.components = 1'000'000, .granule = 1};
  std::vector<std::int64_t> tensors;  ///< sizes of the model's tensors; empty: one tensor
  std::int64_t k = 10'000;            ///< a multiple of the granule
  /// With a workload 0: the kinds of iterations that the scheme goes through, weighted.
  int iterations = 2;
  bool error_feedback = false;
  std::uint64_t seed = 1;
  Input input;
  Workload workload;
};

/// The defaults with what `given` says; `granule` and `k` settled. Throws InputError as check_point
/// does, and for values that do not go together.
[[nodiscard]] Point point_from(const Json& given, const std::string& origin);
/// Throws InputError where the trace that the point names cannot be its input.
void check_trace(const Point& point, const traces::TraceHeader& trace);
/// All of it; point_from gives the same point back.
[[nodiscard]] Json to_json(const Point& point);
/// 16 hexadecimal digits that stand for all that determines a result: the point, what the files
/// hold that it names, and the version.
[[nodiscard]] std::string key_of(const Point& point);

}  // namespace thinwire::experiment
