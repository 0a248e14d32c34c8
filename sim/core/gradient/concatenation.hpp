// The value that an allgather builds: the contributions of many ranks, in order, without copying.
#pragma once

#include <vector>

#include "sim/core/gradient/fingerprint.hpp"
#include "sim/core/kernel/message.hpp"
#include "sim/core/kernel/renaming.hpp"

namespace thinwire::inline gradient {

/// An immutable binary tree whose leaves are lists of (rank, message). Joining two trees costs one
/// node, whatever their size, and all ranks that receive a part share it.
class Concatenation {
 public:
  /// One rank's contribution.
  struct Piece {
    Rank from;
    Message message;
  };

  [[nodiscard]] static Concatenation of(Rank from, Message message);
  /// Many contributions, at least one, in one node.
  [[nodiscard]] static Concatenation of(std::vector<Piece> pieces);
  [[nodiscard]] static Concatenation join(const Concatenation& a, const Concatenation& b);
  [[nodiscard]] static Concatenation from(const Payload& payload);
  /// Whether a payload is a concatenation.
  [[nodiscard]] static bool holds(const Payload& payload);

  /// The number of ranks' pieces in it.
  [[nodiscard]] int pieces() const { return root_->pieces; }
  /// The first `count` pieces, 1 <= count <= pieces().
  [[nodiscard]] Concatenation first(int count) const;
  /// The same pieces of other ranks.
  [[nodiscard]] Concatenation renamed(Renaming renaming) const;
  /// All pieces, in the order in which they were joined.
  [[nodiscard]] std::vector<Piece> in_order() const;
  /// The messages of all pieces, by rank. Ranks without a piece are not listed.
  [[nodiscard]] std::vector<Message> by_rank() const;
  /// A fingerprint of the pieces, independent of the order in which they were joined.
  [[nodiscard]] Fingerprint contents() const { return root_->contents; }
  [[nodiscard]] Message message() const { return {{root_, 0, 0}, root_->words}; }

 private:
  struct Node final : Body {
    Node() = default;
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;
    /// An allgather of many steps joins pieces one by one to a tree that is as deep, so that a
    /// destructor must not call the destructor of the node below.
    ~Node() override;
    [[nodiscard]] bool is_leaf() const { return !left; }
    /// Whether it has the pieces of `left` under other ranks.
    [[nodiscard]] bool is_renamed() const { return left && !right; }

    mutable Ref<const Node> left;
    Ref<const Node> right;
    Renaming renaming = {};
    std::vector<Piece> list;  // used in leaves only
    Words words;
    int pieces = 0;
    Fingerprint contents;
  };
  explicit Concatenation(Ref<const Node> root) : root_(std::move(root)) {}
  Ref<const Node> root_;
};

/// Renames the ranks of concatenations, the only values that name ranks.
class ConcatenationRenamer final : public Renamer {
 public:
  [[nodiscard]] Message renamed(Message message, Renaming renaming) const override;
};

}  // namespace thinwire::inline gradient
