#include "algorithms/collectives/double_tree.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "algorithms/collectives/pieces.hpp"
#include "algorithms/collectives/tags.hpp"

namespace thinwire::algorithms {

namespace {

/// The position (1 .. size) of a rank in tree 0 or 1; rank_at() is the inverse.
int position_of(int rank, int size, int tree) {
  if (tree == 0) return rank + 1;
  if (size % 2 == 0) return size - rank;
  return rank == 0 ? size : rank;
}

Rank rank_at(int position, int size, int tree) {
  if (tree == 0) return Rank(position - 1);
  if (size % 2 == 0) return Rank(size - position);
  return Rank(position % size);
}

/// The position of the parent; 0 above the root.
int parent_of(int position, int size) {
  const int lowest = position & -position;
  const bool left = (position & (2 * lowest)) == 0;
  return left && position + lowest <= size ? position + lowest : position - lowest;
}

/// The stream of messages from one neighbour in one tree; the next receive is always posted ahead.
class Inlet {
 public:
  Inlet(Communicator& comm, Rank from, Tag tag, int chunks)
      : comm_(comm), from_(from), tag_(tag), left_(chunks) {
    post();
  }
  /// The receive of the next chunk.
  Request take() {
    const Request taken = posted_;
    post();
    return taken;
  }

 private:
  void post() {
    if (left_-- > 0) posted_ = comm_.irecv(from_, tag_);
  }

  Communicator& comm_;
  Rank from_;
  Tag tag_;
  int left_;
  Request posted_;
};

/// The role of a rank in one tree, which carries one half of the value.
struct Side {
  Side(Communicator& comm, int tree, int chunks)
      : place(place_in_tree(comm.rank(), comm.size(), tree)),
        tag(tree == 0 ? kAllreduceTag : kSecondTreeTag),
        first_piece(tree * chunks) {
    for (const Rank child : place.children) from_children.emplace_back(comm, child, tag, chunks);
    if (place.parent) from_parent.emplace(comm, *place.parent, tag, chunks);
  }

  TreePlace place;
  Tag tag;
  int first_piece;
  std::vector<Inlet> from_children;
  std::optional<Inlet> from_parent;
};

/// The earliest step at which a node has messages from two others that arrive in steps `later` and
/// `earlier`, since each occupies its port for a step.
std::int64_t after_both(std::int64_t later, std::int64_t earlier) {
  return std::max(later + 1, earlier + 2);
}

/// S of the header for a tree over `positions` > 0.
std::int64_t steps_to_root(int positions, std::int64_t chunks) {
  const auto root = static_cast<int>(std::bit_floor(static_cast<unsigned>(positions)));
  if (positions == 1) return chunks - 1;
  // The left subtree has root - 1 positions and is full.
  const int height = double_tree_depth(root) - 1;
  const std::int64_t left = height == 0 ? chunks - 1 : 2 * (chunks + height - 1);
  if (positions == root) return left + 1;
  const std::int64_t right = steps_to_root(positions - root, chunks);
  return std::max(after_both(std::max(left, right), std::min(left, right)), 2 * chunks);
}

}  // namespace

TreePlace place_in_tree(Rank rank, int size, int tree) {
  const int position = position_of(rank.value(), size, tree);
  const int lowest = position & -position;
  TreePlace place;
  for (int p = parent_of(position, size); p > 0; p = parent_of(p, size)) ++place.level;
  if (place.level > 0) place.parent = rank_at(parent_of(position, size), size, tree);
  if (lowest == 1) return place;
  place.children.push_back(rank_at(position - lowest / 2, size, tree));
  // The right subtree may be incomplete; its root is then nearer.
  const auto after = static_cast<unsigned>(std::min(lowest - 1, size - position));
  if (after > 0) {
    place.children.push_back(
        rank_at(position + static_cast<int>(std::bit_floor(after)), size, tree));
  }
  return place;
}

int double_tree_depth(int size) {
  return static_cast<int>(std::bit_width(static_cast<unsigned>(size))) - 1;
}

int double_tree_chunks(std::int64_t words, int size, std::int64_t chunk_words) {
  const std::int64_t half = (words + 1) / 2;
  std::int64_t most = chunk_words;
  if (most == 0) {
    const std::int64_t wanted = 8 * std::int64_t{double_tree_depth(size)};
    for (most = 131072; most > 8192 && half / most < wanted;) most /= 2;
  }
  return pieces_of(half, most, 2);
}

DoubleTreeSteps double_tree_steps(int size, int chunks) {
  if (size == 1) return {};
  const int busiest = std::min(size, 4);
  const std::int64_t plain = steps_to_root(size, 1);
  return {.low = std::max(std::int64_t{busiest} * chunks, steps_to_root(size, chunks) + plain),
          .high = std::int64_t{busiest} * (chunks - 1) + 2 * plain +
                  2 * std::int64_t{double_tree_depth(size)}};
}

Task<Message> allreduce_double_tree(Communicator& comm, Message mine, const Reduction& reduction,
                                    std::int64_t chunk_words) {
  const int size = comm.size();
  if (size == 1) co_return mine;
  const int depth = double_tree_depth(size);
  const int chunks = double_tree_chunks(mine.words.value(), size, chunk_words);
  const int pieces = 2 * chunks;
  std::array sides{Side(comm, 0, chunks), Side(comm, 1, chunks)};
  std::vector<Message> total(2 * static_cast<std::size_t>(chunks));
  std::vector<Request> sends;  // of the last round

  for (int round = 0; round < chunks + 2 * depth; ++round) {
    for (const Request send : sends) co_await comm.wait(send);
    sends.clear();
    for (Side& side : sides) {
      const auto send_down = [&](int chunk, Message sum) {
        for (const Rank child : side.place.children) {
          sends.push_back(comm.isend(child, side.tag, sum));
        }
        const int piece = side.first_piece + chunk;
        total[static_cast<std::size_t>(piece)] = std::move(sum);
      };
      const int down = round - depth - side.place.level;
      if (side.from_parent && down >= 0 && down < chunks) {
        send_down(down, co_await comm.wait(side.from_parent->take()));
      }
      const int up = round - depth + side.place.level;
      if (up < 0 || up >= chunks) continue;
      const int piece = side.first_piece + up;
      Message partial = reduction.cut(mine, {piece, piece + 1}, pieces);
      for (Inlet& inlet : side.from_children) {
        const Message theirs = co_await comm.wait(inlet.take());
        Summed summed = reduction.sum(partial, theirs);
        co_await comm.compute(summed.work);
        partial = std::move(summed.message);
      }
      if (side.place.parent) {
        sends.push_back(comm.isend(*side.place.parent, side.tag, std::move(partial)));
      } else {
        send_down(up, std::move(partial));
      }
    }
  }
  for (const Request send : sends) co_await comm.wait(send);
  co_return reduction.join(total);
}

}  // namespace thinwire::algorithms
