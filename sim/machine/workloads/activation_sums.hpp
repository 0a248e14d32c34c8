// The sums of activations in which the ranks of a tensor-parallel group take part.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "algorithms/scheme.hpp"
#include "sim/core/kernel/communicator.hpp"
#include "sim/core/kernel/in_switches.hpp"

namespace thinwire::workloads {

/// The phase of these sums, whatever phases the scheme has that makes them.
inline constexpr const char* kTensorParallel = "tensor_parallel";

/// The part of one rank. Its sums are allreduces of a dense scheme; their values are not computed.
class ActivationSums {
 public:
  /// `setup` is the group's setup, with a space of any length. It and `scheme` outlive this object.
  ActivationSums(const algorithms::SchemeInfo& scheme, const algorithms::SchemeSetup& setup)
      : scheme_(scheme), setup_(setup) {}

  /// Sums `components` of each of the `members` of the ranks, of which this is one. All members
  /// call it.
  [[nodiscard]] Task<void> sum(Communicator& comm, Members members, std::int64_t components);

 private:
  struct OfLength {
    algorithms::SchemeSetup setup;
    std::unique_ptr<algorithms::Scheme> scheme;
  };
  [[nodiscard]] OfLength& of_length(std::int64_t components);

  const algorithms::SchemeInfo& scheme_;
  const algorithms::SchemeSetup& setup_;
  std::map<std::int64_t, OfLength> of_length_;
};

}  // namespace thinwire::workloads
