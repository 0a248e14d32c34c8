#include "sim/core/gradient/concatenation.hpp"

#include <algorithm>
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

Concatenation Concatenation::from(const Payload& payload) {
  return Concatenation(Ref<const Node>(static_cast<const Node*>(payload.body.get())));
}

bool Concatenation::holds(const Payload& payload) {
  const Body* body = payload.body.get();
  return body != nullptr && typeid(*body) == typeid(Node);
}

std::vector<Concatenation::Piece> Concatenation::in_order() const {
  std::vector<Piece> pieces;
  pieces.reserve(static_cast<std::size_t>(root_->pieces));
  collect(*root_, pieces);
  return pieces;
}

Concatenation Concatenation::first(int count) const {
  if (count == pieces()) return *this;
  if (!root_->left) return of({root_->list.begin(), root_->list.begin() + count});
  const Concatenation left(root_->left);
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

void Concatenation::collect(const Node& node, std::vector<Piece>& pieces) {
  if (!node.left) {
    pieces.insert(pieces.end(), node.list.begin(), node.list.end());
    return;
  }
  collect(*node.left, pieces);
  collect(*node.right, pieces);
}

}  // namespace thinwire::inline gradient
