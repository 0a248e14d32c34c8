// A machine of which there are measured times and a few words, but no description: a family of
// `topo make` makes its platform, and a fit determines its figures.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/app/studies/validate/fit.hpp"

namespace thinwire::studies {

/// What the user says of the machine; the rest follows from the measured rows.
struct MachineWishes {
  std::optional<int> gpus = {};                 ///< of a node
  std::optional<int> nics = {};                 ///< of a node
  std::string nic_bandwidth = {};               ///< of one NIC, "400Gbps"; empty: as the rows show
  std::string gpu_bandwidth = {};               ///< of a GPU to its node's switch; empty: likewise
  std::string device = {};                      ///< the GPU, "h100"; empty: as the rows name it
  bool ll128 = true;                            ///< NCCL may take its protocol LL128
  bool rendezvous = false;                      ///< a sender asks before messages beyond 2 KiB
  std::optional<double> oversubscription = {};  ///< of a leaf switch
  std::optional<int> leaf_nodes = {};           ///< nodes below a leaf switch
};

class MadeMachine {
 public:
  /// `rows` are of one machine; `path` is the file that its description will be. Throws InputError
  /// where the rows are of several machines, or contradict what the user says.
  MadeMachine(std::vector<MeasuredRow> rows, MachineWishes wishes, const std::string& path);
  MadeMachine(const MadeMachine&) = delete;
  MadeMachine& operator=(const MadeMachine&) = delete;
  ~MadeMachine();

  /// What is fitted, to the rows(). The platforms of trials are files as long as this lives.
  [[nodiscard]] FitProblem problem();
  /// At most some sizes of each run and algorithm, spread over all: each trial simulates all rows.
  [[nodiscard]] std::vector<MeasuredRow> rows() const;
  /// The machine with these values, on a platform of so many nodes in the file `platform`.
  [[nodiscard]] MachineDescription described(const std::map<std::string, double>& values,
                                             const std::string& platform) const;
  /// The platform of so many nodes.
  [[nodiscard]] std::string platform_xml(const std::map<std::string, double>& values,
                                         int nodes) const;
  /// The file of the description.
  [[nodiscard]] Json to_json(const MachineFit& fit) const;
  /// What nobody said and no row shows, in words.
  [[nodiscard]] const std::vector<std::string>& assumed() const { return assumed_; }
  /// Whether the rows are of NCCL on several nodes: they may show that LL128 is off, or a rendezvous.
  [[nodiscard]] bool is_nccl_between_nodes() const { return machine_.gpu && has_more_nodes_; }
  [[nodiscard]] int most_nodes() const { return most_nodes_; }
  [[nodiscard]] int ranks_per_node() const { return ranks_per_node_; }

 private:
  class Trials;

  void count_nodes();
  void take_rates();
  void take_device();
  [[nodiscard]] double rate_of(bool one_node) const;
  [[nodiscard]] std::vector<FitVariable> variables() const;

  std::vector<MeasuredRow> rows_;
  MachineWishes wishes_;
  MachineDescription machine_;
  bool has_one_node_ = false;
  bool has_more_nodes_ = false;
  int most_nodes_ = 1;
  int ranks_per_node_ = 1;
  int nics_ = 1;
  double nic_bandwidth_ = 0;  ///< bytes per second
  double gpu_bandwidth_ = 0;
  std::vector<std::string> assumed_;
  std::unique_ptr<Trials> trials_;
};

}  // namespace thinwire::studies
