#include "sim/core/gradient/concatenation.hpp"

#include <algorithm>
#include <deque>
#include <typeinfo>
#include <utility>

namespace thinwire::inline gradient {

Concatenation Concatenation::of(Rank from, Message message) {
  std::vector<Piece> single;
  single.push_back({from, std::move(message)});
  return of(std::move(single));
}

Concatenation Concatenation::of(std::vector<Piece> pieces) {
  const Ref<Node> leaf = make_ref<Node>();
  for (const Piece& piece : pieces) {
    const Fingerprint value = fingerprint(piece.message);
    const auto rank = static_cast<std::uint64_t>(piece.from.value());
    leaf->contents =
        leaf->contents + Fingerprint{random_bits(value.low, rank), random_bits(value.high, rank)};
    leaf->words += piece.message.words;
  }
  leaf->pieces = static_cast<int>(pieces.size());
  leaf->list = std::move(pieces);
  return Concatenation(leaf);
}

Concatenation Concatenation::join(const Concatenation& a, const Concatenation& b) {
  const Ref<Node> node = make_ref<Node>();
  node->left = a.root_;
  node->right = b.root_;
  node->words = a.root_->words + b.root_->words;
  node->pieces = a.pieces() + b.pieces();
  node->contents = a.contents() + b.contents();
  return Concatenation(node);
}

Concatenation Concatenation::renamed(Renaming renaming) const {
  if (renaming.changes_nothing()) return *this;
  // Pieces may be passed on thousands of times.
  if (root_->is_renamed() && root_->renaming.joins(renaming)) {
    return Concatenation(root_->left).renamed(root_->renaming.then(renaming));
  }
  const Ref<Node> node = make_ref<Node>();
  node->left = root_;
  node->renaming = renaming;
  node->words = root_->words;
  node->pieces = pieces();
  const auto kind = static_cast<std::uint64_t>(renaming.kind);
  node->contents = {random_bits(contents().low, kind, renaming.by),
                    random_bits(contents().high, kind, renaming.by)};
  return Concatenation(node);
}

Concatenation Concatenation::from(const Payload& payload) {
  return Concatenation(Ref<const Node>(static_cast<const Node*>(payload.body.get())));
}

bool Concatenation::holds(const Payload& payload) {
  const Body* body = payload.body.get();
  return body != nullptr && typeid(*body) == typeid(Node);
}

Concatenation::Node::~Node() {
  Ref<const Node> below = std::move(left);
  while (below.is_only()) {
    Ref<const Node> next = std::move(below->left);
    below = std::move(next);
  }
}

std::vector<Concatenation::Piece> Concatenation::in_order() const {
  struct Names {  // the renamings on the way to a node, the last one first
    Renaming last;
    const Names* before;
  };
  struct Visit {
    const Node* node;
    const Names* names;
  };
  std::vector<Piece> pieces;
  pieces.reserve(static_cast<std::size_t>(root_->pieces));
  std::vector<Visit> visits{{root_.get(), nullptr}};  // a stack, the next one at the end
  std::deque<Names> renamings;                        // a deque, so that addresses stay valid
  while (!visits.empty()) {
    const auto [node, names] = visits.back();
    visits.pop_back();
    if (node->is_leaf()) {
      for (const Piece& piece : node->list) {
        Rank from = piece.from;
        for (const Names* name = names; name != nullptr; name = name->before) {
          from = name->last.of(from);
        }
        pieces.push_back({from, piece.message});
      }
    } else if (node->is_renamed()) {
      renamings.push_back({.last = node->renaming, .before = names});
      visits.push_back({node->left.get(), &renamings.back()});
    } else {
      visits.push_back({node->right.get(), names});
      visits.push_back({node->left.get(), names});
    }
  }
  return pieces;
}

Concatenation Concatenation::first(int count) const {
  if (count == pieces()) return *this;
  if (root_->is_leaf()) return of({root_->list.begin(), root_->list.begin() + count});
  const Concatenation left(root_->left);
  if (root_->is_renamed()) return left.first(count).renamed(root_->renaming);
  if (count <= left.pieces()) return left.first(count);
  return join(left, Concatenation(root_->right).first(count - left.pieces()));
}

std::vector<Message> Concatenation::by_rank() const {
  std::vector<Piece> pieces = in_order();
  std::sort(pieces.begin(), pieces.end(),
            [](const Piece& a, const Piece& b) { return a.from < b.from; });
  std::vector<Message> messages;
  messages.reserve(pieces.size());
  for (Piece& piece : pieces) messages.push_back(std::move(piece.message));
  return messages;
}

Message ConcatenationRenamer::renamed(Message message, Renaming renaming) const {
  if (!Concatenation::holds(message.payload)) return message;
  return Concatenation::from(message.payload).renamed(renaming).message();
}

}  // namespace thinwire::inline gradient
