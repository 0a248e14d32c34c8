#include "algorithms/collectives/channels.hpp"

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <boost/container/static_vector.hpp>
#include <list>
#include <span>
#include <utility>

#include "algorithms/collectives/double_tree.hpp"
#include "algorithms/collectives/pieces.hpp"
#include "algorithms/collectives/tags.hpp"

namespace thinwire::algorithms {

namespace {

/// The remainder of a division, from 0 to size - 1.
int modulo(int number, int size) { return ((number % size) + size) % size; }

Tag tag_of(int lane) { return Tag(kFirstChannelTag.value() + lane); }

/// First in, first out. Most of a rank's queues are empty at any time, and an empty deque takes 576
/// bytes.
template <class T>
using Queue = std::list<T>;

/// Operations under way, and what each of them is for.
template <class Purpose>
class Flying {
 public:
  explicit Flying(Communicator& comm) : comm_(comm) {}

  void add(Request request, Purpose purpose) {
    comm_.watch(request);
    requests_.push_back(request);
    purposes_.push_back(purpose);
  }
  [[nodiscard]] std::span<const Request> requests() const {
    return {requests_.data(), requests_.size()};
  }
  [[nodiscard]] Purpose take(std::size_t position) {
    const Purpose purpose = purposes_[position];
    requests_[position] = requests_.back();
    purposes_[position] = purposes_.back();
    requests_.pop_back();
    purposes_.pop_back();
    return purpose;
  }

 private:
  // A tree's requests are in the memory of the rank itself: thousands of ranks take turns, and each
  // pointer that leads elsewhere is a miss of the cache.
  static constexpr std::size_t kUsual = 16;
  Communicator& comm_;
  boost::container::small_vector<Request, kUsual> requests_;
  boost::container::small_vector<Purpose, kUsual> purposes_;
};

/// How messages of one rank travel.
class Wire {
 public:
  Wire(Nodes nodes, int rank, LineFormat format) : nodes_(nodes), rank_(rank), format_(format) {}

  [[nodiscard]] Message packed(Message message) const {
    message.words = format_.wire(message.words);
    return message;
  }
  [[nodiscard]] Seconds launch() const { return format_.launch; }
  /// The time that the protocol takes for a message of so many words on the wire from another rank.
  [[nodiscard]] Seconds delay(int from, Words words) const {
    const bool near = nodes_.node_of(from) == nodes_.node_of(rank_);
    const double data = static_cast<double>(words.value()) * format_.data / format_.line;
    Seconds delay = (near ? format_.in_node : format_.between_nodes) + format_.handling(data);
    if (!near && words > LineFormat::kRendezvous) delay += format_.rendezvous;
    return delay;
  }

 private:
  Nodes nodes_;
  int rank_;
  LineFormat format_;
};

enum class RingEvent : std::uint8_t { sent, received, delayed };

/// NCCL's buffers have 8 slots: so many receives are posted ahead on a ring.
constexpr int kSlots = 8;

/// What a rank does on the ring of one channel: exchange after exchange, each of which sends what
/// the one before has yielded. Receives are posted ahead.
struct RingLane {
  RingLane(const ChannelRing& of_channel, Nodes nodes, int rank, Tag of_ring, RingWork of_work)
      : ring(of_channel),
        position(ring.position_of(rank)),
        size(nodes.ranks),
        tag(of_ring),
        work(of_work) {
    next = Rank(ring.rank_at(modulo(position + 1, size)));
    previous = Rank(ring.rank_at(modulo(position - 1, size)));
  }

  /// The exchanges of one way around; an allreduce is a reduce-scatter and an allgather.
  [[nodiscard]] int exchanges() const { return (work == RingWork::allreduce ? 2 : 1) * (size - 1); }
  [[nodiscard]] int loop() const { return step / exchanges(); }
  /// The place on the ring, from 0, whose piece the first exchange of a way around sends: a
  /// reduce-scatter ends with the piece of its own place.
  [[nodiscard]] int own_place() const {
    return work == RingWork::reduce_scatter ? modulo(position - 1, size) : position;
  }
  /// The place whose piece the current exchange receives.
  [[nodiscard]] int received_place() const {
    return modulo(own_place() - step % exchanges() - 1, size);
  }
  [[nodiscard]] bool begins() const { return step % exchanges() == 0; }
  [[nodiscard]] bool sums() const {
    return work != RingWork::allgather && step % exchanges() < size - 1;
  }
  /// Whether what the current exchange receives is a part of the result, once it is summed.
  [[nodiscard]] bool completes() const {
    return work == RingWork::allgather || step % exchanges() >= size - 2;
  }

  ChannelRing ring;
  int position;
  int size;
  Tag tag;
  RingWork work;
  Rank next;
  Rank previous;
  int step = 0;                  ///< of the exchange whose message is used next
  int posted = 0;                ///< receives
  Queue<Request> receives = {};  ///< in order, without the one that is waited for
  Queue<Message> to_send = {};   ///< a connection is a queue: one message after another
  Queue<Message> delayed = {};   ///< that have arrived, and are not received yet
  bool receiving = false;
  bool sending = false;
};

/// The rings of one rank.
class RingChannels {
 public:
  /// `cut_block` cuts the P blocks of the value into parts of the channels; it is null for allreduces.
  RingChannels(Communicator& comm, Nodes nodes, Message mine, const Reduction& reduction,
               RingWork work, const CutBlock* cut_block, int channels, int loops, LineFormat format)
      : comm_(comm),
        wire_(nodes, comm.rank().value(), format),
        mine_(std::move(mine)),
        reduction_(reduction),
        work_(work),
        cut_block_(cut_block),
        loops_(loops),
        parts_(channels * loops),
        total_(static_cast<std::size_t>(parts_ * comm.size())) {
    for (int channel = 0; channel < channels; ++channel) {
      lanes_.emplace_back(ChannelRing(nodes, entry_of(channel, channels, nodes)), nodes,
                          comm.rank().value(), tag_of(channel), work);
    }
  }

  /// Returns the result: after a reduce-scatter, the block of this rank alone.
  Task<Message> run() {
    co_await pass_all();
    if (work_ != RingWork::reduce_scatter) co_return reduction_.join(total_);
    const int rank = comm_.rank().value();
    const std::span<const Message> blocks(total_);
    co_return reduction_.join(
        blocks.subspan(static_cast<std::size_t>(rank * parts_), static_cast<std::size_t>(parts_)),
        {{rank, rank + 1}, comm_.size()});
  }

 private:
  struct RingPurpose {
    RingEvent event;
    int lane;
  };

  Task<void> pass_all() {
    co_await comm_.compute(wire_.launch());
    for (int lane = 0; lane < static_cast<int>(lanes_.size()); ++lane) begin_exchange(lane, {});
    while (!flying_.requests().empty()) {
      auto first = co_await comm_.wait_watched(flying_.requests());
      const RingPurpose purpose = flying_.take(first.position);
      RingLane& lane = at(purpose.lane);
      Message received = std::move(first.message);
      switch (purpose.event) {
        case RingEvent::sent:
          lane.sending = false;
          watch(purpose.lane);
          continue;
        case RingEvent::received: {
          lane.receiving = false;
          watch(purpose.lane);
          const Seconds delay = wire_.delay(lane.previous.value(), received.words);
          if (delay > Seconds(0)) {
            lane.delayed.push_back(std::move(received));
            flying_.add(comm_.start_work(delay), {RingEvent::delayed, purpose.lane});
            continue;
          }
          break;
        }
        case RingEvent::delayed:
          received = std::move(lane.delayed.front());
          lane.delayed.pop_front();
          break;
      }
      const int piece = piece_at(purpose.lane, lane.received_place());
      const Message own = piece_of_mine(piece);
      received.words = own.words;
      if (lane.sums()) {
        Summed summed = reduction_.sum(own, received);
        co_await comm_.compute(summed.work);
        received = std::move(summed.message);
      }
      if (lane.completes()) total_[static_cast<std::size_t>(piece)] = received;
      ++lane.step;
      begin_exchange(purpose.lane, std::move(received));
    }
  }

  [[nodiscard]] RingLane& at(int lane) { return lanes_[static_cast<std::size_t>(lane)]; }
  /// The piece that the current way around a ring has for a place on it.
  [[nodiscard]] int piece_at(int number, int place) {
    const RingLane& lane = at(number);
    const int part = number * loops_ + lane.loop();
    return cut_block_ == nullptr ? part * comm_.size() + place
                                 : lane.ring.rank_at(place) * parts_ + part;
  }
  [[nodiscard]] Message piece_of_mine(int piece) const {
    if (cut_block_ == nullptr) {
      return reduction_.cut(mine_, {piece, piece + 1}, parts_ * comm_.size());
    }
    return (*cut_block_)(mine_, piece / parts_, piece % parts_, parts_);
  }

  /// Posts the receives of an exchange and sends what the previous one has yielded. The first exchange of
  /// each turn around the ring sends the rank's own piece.
  void begin_exchange(int number, Message moving) {
    RingLane& lane = at(number);
    const int exchanges = loops_ * lane.exchanges();
    if (lane.step == exchanges) return;
    for (; lane.posted < std::min(exchanges, lane.step + kSlots); ++lane.posted) {
      lane.receives.push_back(comm_.irecv(lane.previous, lane.tag));
    }
    if (lane.begins()) {
      const int piece = piece_at(number, lane.own_place());
      moving = piece_of_mine(piece);
      if (lane.work == RingWork::allgather) total_[static_cast<std::size_t>(piece)] = moving;
    }
    lane.to_send.push_back(wire_.packed(std::move(moving)));
    watch(number);
  }
  /// Waits for the oldest receive of a ring, and sends the next message when the one before has left.
  void watch(int number) {
    RingLane& lane = at(number);
    if (!lane.receiving && !lane.receives.empty()) {
      flying_.add(lane.receives.front(), {RingEvent::received, number});
      lane.receives.pop_front();
      lane.receiving = true;
    }
    if (!lane.sending && !lane.to_send.empty()) {
      flying_.add(comm_.isend(lane.next, lane.tag, std::move(lane.to_send.front())),
                  {RingEvent::sent, number});
      lane.to_send.pop_front();
      lane.sending = true;
    }
  }

  Communicator& comm_;
  Wire wire_;
  Message mine_;
  const Reduction& reduction_;
  RingWork work_;
  const CutBlock* cut_block_;  ///< where blocks of the value belong to ranks
  int loops_;
  int parts_;  ///< pieces for each place on the rings
  std::vector<Message> total_;
  std::vector<RingLane> lanes_;
  Flying<RingPurpose> flying_{comm_};
};

/// Where an event of a tree belongs to: a tree, and one of the neighbours there.
enum class TreeEvent : std::uint8_t { sent, received, delayed, reduced, copied };
struct TreePurpose {
  TreePurpose(TreeEvent of, int of_lane, int of_neighbour)
      : event(of),
        neighbour(static_cast<std::uint8_t>(of_neighbour)),
        lane(static_cast<std::uint16_t>(of_lane)) {}

  TreeEvent event;
  std::uint8_t neighbour;
  std::uint16_t lane;
};

/// The messages to and from one neighbour of a rank in one tree.
struct Neighbour {
  Rank rank;
  int to_receive = 0;            ///< chunks that are not posted yet
  Queue<Message> received = {};  ///< and not used yet
  Queue<Message> delayed = {};   ///< that have arrived, and are not received yet
  Queue<Message> to_send = {};
  bool sending = false;
};

/// The thread block that handles the chunks of one direction of a tree, one after another.
struct ThreadBlock {
  Queue<Message> chunks = {};  ///< that it has not handled, with the one under way
};

/// What a rank does in one tree.
struct TreeLane {
  TreeLane(const ChannelTreePlace& place, Tag of_tree, int chunks) : tag(of_tree) {
    for (const int child : place.children) {
      neighbours.push_back({.rank = Rank(child), .to_receive = chunks});
    }
    children = neighbours.size();
    if (place.parent) neighbours.push_back({.rank = Rank(*place.parent), .to_receive = chunks});
  }
  [[nodiscard]] bool is_root() const { return children == neighbours.size(); }

  Tag tag;
  std::size_t children = 0;
  int first_piece = 0;
  int up = 0;        ///< chunks that are summed
  int received = 0;  ///< chunks of the result that the parent has sent
  int down = 0;      ///< chunks of the result that went down
  /// The children, two in the tree and one in the chain, and then the parent.
  boost::container::static_vector<Neighbour, 4> neighbours;
  ThreadBlock reduces = {};
  ThreadBlock copies = {};
};

/// The trees of one rank.
class TreeChannels {
 public:
  TreeChannels(Communicator& comm, Wire wire, Message mine, const Reduction& reduction,
               Seconds per_word, int chunks, int pieces)
      : comm_(comm),
        wire_(wire),
        mine_(std::move(mine)),
        reduction_(reduction),
        per_word_(per_word),
        chunks_(chunks),
        pieces_(pieces),
        total_(static_cast<std::size_t>(pieces)) {}

  void add(const ChannelTreePlace& place) {
    const auto number = static_cast<int>(lanes_.size());
    TreeLane lane(place, tag_of(number), chunks_);
    lane.first_piece = number * chunks_;
    lanes_.push_back(std::move(lane));
  }

  Task<Message> run() {
    co_await comm_.compute(wire_.launch());
    for (int lane = 0; lane < static_cast<int>(lanes_.size()); ++lane) {
      for (int i = 0; i < static_cast<int>(at(lane).neighbours.size()); ++i) post(lane, i);
    }
    for (int lane = 0; lane < static_cast<int>(lanes_.size()); ++lane) co_await advance(lane);
    while (!flying_.requests().empty()) {
      auto first = co_await comm_.wait_watched(flying_.requests());
      const TreePurpose purpose = flying_.take(first.position);
      Neighbour& neighbour = of(purpose.lane, purpose.neighbour);
      switch (purpose.event) {
        case TreeEvent::sent:
          neighbour.sending = false;
          send_next(purpose.lane, purpose.neighbour);
          continue;
        case TreeEvent::received: {
          post(purpose.lane, purpose.neighbour);
          const Seconds delay = wire_.delay(neighbour.rank.value(), first.message.words);
          if (delay > Seconds(0)) {
            neighbour.delayed.push_back(std::move(first.message));
            flying_.add(comm_.start_work(delay),
                        {TreeEvent::delayed, purpose.lane, purpose.neighbour});
            continue;
          }
          neighbour.received.push_back(std::move(first.message));
          break;
        }
        case TreeEvent::delayed:
          neighbour.received.push_back(std::move(neighbour.delayed.front()));
          neighbour.delayed.pop_front();
          break;
        case TreeEvent::reduced:
        case TreeEvent::copied:
          end_work(purpose);
          continue;
      }
      co_await advance(purpose.lane);
    }
    co_return reduction_.join(total_);
  }

 private:
  [[nodiscard]] TreeLane& at(int lane) { return lanes_[static_cast<std::size_t>(lane)]; }
  [[nodiscard]] Neighbour& of(int lane, int neighbour) {
    return at(lane).neighbours[static_cast<std::size_t>(neighbour)];
  }

  /// Posts the receive of the next chunk from a neighbour, if there is one.
  void post(int lane, int neighbour) {
    Neighbour& from = of(lane, neighbour);
    if (from.to_receive-- <= 0) return;
    flying_.add(comm_.irecv(from.rank, at(lane).tag), {TreeEvent::received, lane, neighbour});
  }
  /// Sends the next chunk to a neighbour, if there is one and none is under way.
  void send_next(int lane, int neighbour) {
    Neighbour& to = of(lane, neighbour);
    if (to.sending || to.to_send.empty()) return;
    to.sending = true;
    flying_.add(comm_.isend(to.rank, at(lane).tag, wire_.packed(std::move(to.to_send.front()))),
                {TreeEvent::sent, lane, neighbour});
    to.to_send.pop_front();
  }
  void send(int lane, int neighbour, Message chunk) {
    of(lane, neighbour).to_send.push_back(std::move(chunk));
    send_next(lane, neighbour);
  }
  /// Has a thread block handle a chunk: to the parent if it reduces, else to the children.
  void begin_work(TreePurpose purpose, Message chunk) {
    if (per_word_ == Seconds(0)) {
      forward(purpose, std::move(chunk));
      return;
    }
    ThreadBlock& block = block_of(purpose);
    block.chunks.push_back(std::move(chunk));
    if (block.chunks.size() == 1) handle_next(purpose);
  }
  void end_work(TreePurpose purpose) {
    ThreadBlock& block = block_of(purpose);
    Message chunk = std::move(block.chunks.front());
    block.chunks.pop_front();
    if (!block.chunks.empty()) handle_next(purpose);
    forward(purpose, std::move(chunk));
  }
  void handle_next(TreePurpose purpose) {
    const auto words = static_cast<double>(block_of(purpose).chunks.front().words.value());
    flying_.add(comm_.start_work(per_word_ * words), purpose);
  }
  [[nodiscard]] ThreadBlock& block_of(TreePurpose purpose) {
    TreeLane& tree = at(purpose.lane);
    return purpose.event == TreeEvent::reduced ? tree.reduces : tree.copies;
  }
  void forward(TreePurpose purpose, Message chunk) {
    const TreeLane& tree = at(purpose.lane);
    if (purpose.event == TreeEvent::copied) {
      send_down(purpose.lane, chunk);
    } else if (tree.is_root()) {
      begin_work({TreeEvent::copied, purpose.lane, 0}, std::move(chunk));
    } else {
      send(purpose.lane, static_cast<int>(tree.children), std::move(chunk));
    }
  }
  void send_down(int lane, const Message& sum) {
    TreeLane& tree = at(lane);
    total_[static_cast<std::size_t>(tree.first_piece + tree.down++)] = sum;
    for (int child = 0; child < static_cast<int>(tree.children); ++child) send(lane, child, sum);
  }

  /// Does what can be done with the chunks that are there.
  Task<void> advance(int lane) {
    TreeLane& tree = at(lane);
    const std::span<Neighbour> children(tree.neighbours.data(), tree.children);
    const auto has_chunk = [](const Neighbour& child) { return !child.received.empty(); };
    while (tree.up < chunks_ && std::ranges::all_of(children, has_chunk)) {
      const int piece = tree.first_piece + tree.up++;
      Message partial = reduction_.cut(mine_, {piece, piece + 1}, pieces_);
      const Words words = partial.words;
      for (Neighbour& child : children) {
        Message theirs = std::move(child.received.front());
        child.received.pop_front();
        theirs.words = words;
        Summed summed = reduction_.sum(partial, theirs);
        co_await comm_.compute(summed.work);
        partial = std::move(summed.message);
      }
      begin_work({TreeEvent::reduced, lane, 0}, std::move(partial));
    }
    while (!tree.is_root() && has_chunk(tree.neighbours.back())) {
      Message sum = std::move(tree.neighbours.back().received.front());
      tree.neighbours.back().received.pop_front();
      const int piece = tree.first_piece + tree.received++;
      sum.words = reduction_.cut(mine_, {piece, piece + 1}, pieces_).words;
      begin_work({TreeEvent::copied, lane, 0}, std::move(sum));
    }
  }

  Communicator& comm_;
  Wire wire_;
  Message mine_;
  const Reduction& reduction_;
  Seconds per_word_;  ///< of a thread block
  int chunks_;
  int pieces_;
  std::vector<Message> total_;
  boost::container::small_vector<TreeLane, 2> lanes_;
  Flying<TreePurpose> flying_{comm_};
};

}  // namespace

int entry_of(int channel, int channels, Nodes nodes) {
  return channels < nodes.size ? channel * nodes.size / channels : channel % nodes.size;
}

int ChannelRing::position_of(int rank) const {
  const int node = nodes_.node_of(rank);
  const int size = nodes_.size_of(node);
  const int place = rank - nodes_.first_of(node);
  const int inside = node % 2 == 0 ? place - entry_ : entry_ - 1 - place;
  return nodes_.first_of(node) + modulo(inside, size);
}

int ChannelRing::rank_at(int position) const {
  const int node = nodes_.node_of(position);
  const int size = nodes_.size_of(node);
  const int inside = position - nodes_.first_of(node);
  const int place = node % 2 == 0 ? entry_ + inside : entry_ - 1 - inside;
  return nodes_.first_of(node) + modulo(place, size);
}

ChannelTreePlace place_in_channel_tree(Nodes nodes, int rank, int entry, int tree) {
  const int node = nodes.node_of(rank);
  const int size = nodes.size_of(node);
  const auto head_of = [&](int other) {
    return nodes.first_of(other) + entry % nodes.size_of(other);
  };
  const auto in_chain = [&](int link) { return nodes.first_of(node) + modulo(entry + link, size); };
  const int link = modulo(rank - nodes.first_of(node) - entry, size);
  const TreePlace among = place_in_tree(Rank(node), nodes.count, tree);
  ChannelTreePlace place{.level = among.level + link};
  if (link > 0) {
    place.parent = in_chain(link - 1);
  } else {
    if (among.parent) place.parent = head_of(among.parent->value());
    for (const Rank child : among.children) place.children.push_back(head_of(child.value()));
  }
  if (link + 1 < size) place.children.push_back(in_chain(link + 1));
  return place;
}

int channel_tree_depth(Nodes nodes) { return double_tree_depth(nodes.count) + nodes.size - 1; }

int ring_loops(std::int64_t words, int ranks, int channels, std::int64_t chunk_words) {
  if (chunk_words == 0) return 1;
  const std::int64_t parts = std::int64_t{ranks} * channels;
  return pieces_of(words, std::min(chunk_words, words + 1) * parts, parts);
}

int tree_chunks(std::int64_t words, int depth, int channels, std::int64_t chunk_words) {
  const std::int64_t trees = 2 * std::int64_t{channels};
  const std::int64_t half = (words + trees - 1) / trees;
  std::int64_t most = chunk_words;
  if (most == 0) {
    for (most = 131072; most > 8192 && half / most < 8 * std::int64_t{depth};) most /= 2;
  }
  return pieces_of(half, most, trees);
}

Task<Message> allreduce_channel_rings(Communicator& comm, Nodes nodes, Message mine,
                                      const Reduction& reduction, int channels, int loops,
                                      LineFormat format) {
  if (comm.size() == 1) co_return mine;
  RingChannels rings(comm, nodes, std::move(mine), reduction, RingWork::allreduce, nullptr,
                     channels, loops, format);
  co_return co_await rings.run();
}

Task<Message> half_channel_rings(Communicator& comm, Nodes nodes, Message mine,
                                 const Reduction& reduction, RingWork half,
                                 const CutBlock& cut_block, int channels, int loops,
                                 LineFormat format) {
  if (comm.size() == 1) co_return mine;
  RingChannels rings(comm, nodes, std::move(mine), reduction, half, &cut_block, channels, loops,
                     format);
  co_return co_await rings.run();
}

Task<Message> allreduce_channel_trees(Communicator& comm, Nodes nodes, Message mine,
                                      const Reduction& reduction, int channels, int chunks,
                                      LineFormat format, Seconds per_word) {
  if (comm.size() == 1) co_return mine;
  const int rank = comm.rank().value();
  TreeChannels trees(comm, Wire(nodes, rank, format), std::move(mine), reduction, per_word, chunks,
                     2 * channels * chunks);
  for (int channel = 0; channel < channels; ++channel) {
    const int entry = entry_of(channel, channels, nodes);
    for (const int tree : {0, 1}) trees.add(place_in_channel_tree(nodes, rank, entry, tree));
  }
  co_return co_await trees.run();
}

}  // namespace thinwire::algorithms
