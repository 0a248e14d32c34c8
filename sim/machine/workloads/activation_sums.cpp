#include "sim/machine/workloads/activation_sums.hpp"

#include <utility>

#include "sim/core/gradient/dense_block.hpp"
#include "sim/core/kernel/forwarding.hpp"
#include "sim/core/kernel/group.hpp"

namespace thinwire::workloads {

namespace {

/// What is done on it belongs to the phase of its caller.
class InOnePhase final : public ForwardingCommunicator {
 public:
  explicit InOnePhase(Communicator& parent)
      : ForwardingCommunicator(parent, parent.rank(), parent.size()) {}

 protected:
  [[nodiscard]] Request start_program(StartedProgram program) override {
    return start_on_parent(std::move(program));
  }
  void enter_phase(std::string_view /*name*/) override {}
  void leave_phase() noexcept override {}
};

}  // namespace

ActivationSums::OfLength& ActivationSums::of_length(std::int64_t components) {
  const auto [at, fresh] = of_length_.try_emplace(components);
  OfLength& one = at->second;
  if (fresh) {
    one.setup = setup_;
    one.setup.space.components = components;
    one.setup.space.granule = 1 + components / UINT32_MAX;
    one.scheme = scheme_.make(one.setup);
  }
  return one;
}

Task<void> ActivationSums::sum(Communicator& comm, Members members, std::int64_t components) {
  const auto phase = comm.phase(kTensorParallel);
  InOnePhase in_one_phase(comm);
  Group group(in_one_phase, members);
  OfLength& one = of_length(components);
  const auto end = static_cast<std::uint32_t>(one.setup.space.coordinates());
  Task<algorithms::Reduced> task =
      one.scheme->allreduce(group, DenseBlock::valueless(0, end), /*iteration=*/1);
  static_cast<void>(co_await std::move(task));
}

}  // namespace thinwire::workloads
