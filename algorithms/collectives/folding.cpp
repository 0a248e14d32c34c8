#include "algorithms/collectives/folding.hpp"

#include <utility>

#include "algorithms/collectives/tags.hpp"

namespace thinwire::algorithms {

Task<Message> fold_in(Communicator& comm, Core core, Message mine, const Reduction& reduction) {
  if (core.folds_in()) {
    co_await comm.wait(comm.isend(core.partner(), kFoldingTag, std::move(mine)));
    co_return Message{};
  }
  if (core.paired()) {
    const Message theirs = co_await comm.wait(comm.irecv(core.partner(), kFoldingTag));
    Summed summed = reduction.sum(mine, theirs);
    co_await comm.compute(summed.work);
    mine = std::move(summed.message);
  }
  co_return mine;
}

Task<Message> fold_out(Communicator& comm, Core core, Message mine, Message of_partner) {
  if (core.folds_in()) co_return co_await comm.wait(comm.irecv(core.partner(), kFoldingTag));
  if (core.paired()) {
    co_await comm.wait(comm.isend(core.partner(), kFoldingTag, std::move(of_partner)));
  }
  co_return mine;
}

}  // namespace thinwire::algorithms
