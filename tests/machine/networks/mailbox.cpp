#include "sim/machine/networks/common/mailbox.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "tests/support/bodies.hpp"
#include "tests/support/sparse.hpp"

namespace thinwire::networks {

using test::below;
using test::Generator;

namespace {

struct Waiting {
  double stamp;
  std::int64_t words;  // of a message; a posted receive has a slot instead
  SlotIndex slot;
};

using Key = std::pair<int, int>;

/// Posts and messages at random, held against maps of queues.
class Trial {
 public:
  Trial(std::uint64_t seed, int sources, int tags)
      : generator_(seed), sources_(sources), tags_(tags) {}

  bool run(int turns) {
    for (int turn = 0; turn < turns; ++turn) {
      // Phases in which receives, or messages, pile up.
      const bool mostly_posts = (turn / 500) % 2 == 0;
      const bool post = below(generator_, 10) < (mostly_posts ? 7 : 3);
      const Key key{static_cast<int>(below(generator_, sources_)),
                    static_cast<int>(below(generator_, tags_))};
      if (!(post ? posts(key) : arrives(key))) return false;
      clock_ += 1;
    }
    return unmatched_agree() && drain();
  }

 private:
  bool posts(Key key) {
    auto& early = early_[key];
    const double now = clock_ / 2;  // may lie before the message's stamp, or after
    const SlotIndex slot = mailbox_.post(slots_, Rank(key.first), Tag(key.second), now);
    if (early.empty()) {
      posted_[key].push_back({now, 0, slot});
      return !slots_[slot].arrived;
    }
    const Waiting message = early.front();
    early.pop_front();
    return take(slot, key, message.words, std::max(now, message.stamp));
  }

  bool arrives(Key key) {
    auto& posted = posted_[key];
    const double stamp = clock_;
    const std::int64_t words = ++words_;
    const SlotIndex slot = mailbox_.arrive(slots_, Rank(key.first), Tag(key.second),
                                           test::empty_message(words), stamp);
    if (posted.empty()) {
      early_[key].push_back({stamp, words, kNoSlot});
      return slot == kNoSlot;
    }
    const Waiting receive = posted.front();
    posted.pop_front();
    return slot == receive.slot && take(slot, key, words, std::max(stamp, receive.stamp));
  }

  bool take(SlotIndex index, Key key, std::int64_t words, double stamp) {
    const Slot& slot = slots_[index];
    const bool right = slot.arrived && slot.message.words == Words(words) && slot.stamp == stamp &&
                       slot.from == Rank(key.first) && slot.tag == Tag(key.second);
    slots_.release(index);
    return right;
  }

  bool unmatched_agree() const {
    std::vector<Key> expected;
    for (const auto* queues : {&posted_, &early_}) {
      for (const auto& [key, queue] : *queues) {
        if (!queue.empty()) expected.push_back(key);
      }
    }
    std::vector<Key> heads;
    for (const SlotIndex slot : mailbox_.unmatched()) {
      heads.emplace_back(slots_[slot].from.value(), slots_[slot].tag.value());
    }
    std::sort(expected.begin(), expected.end());
    std::sort(heads.begin(), heads.end());
    return heads == expected;
  }

  bool drain() {
    for (int source = 0; source < sources_; ++source) {
      for (int tag = 0; tag < tags_; ++tag) {
        const Key key{source, tag};
        while (!posted_[key].empty()) {
          if (!arrives(key)) return false;
        }
        while (!early_[key].empty()) {
          if (!posts(key)) return false;
        }
      }
    }
    return mailbox_.unmatched().empty();
  }

  Generator generator_;
  int sources_;
  int tags_;
  double clock_ = 0;
  std::int64_t words_ = 0;
  SlotPool slots_;
  Mailbox mailbox_;
  std::map<Key, std::deque<Waiting>> posted_;
  std::map<Key, std::deque<Waiting>> early_;
};

}  // namespace

TEST_CASE("Mailboxes match like maps of queues") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    CHECK(Trial(seed, 1, 1).run(3000));
    CHECK(Trial(seed, 5, 3).run(5000));
    CHECK(Trial(seed, 40, 2).run(5000));
    CHECK(Trial(seed, 4096, 5).run(20000));
  }
}

TEST_CASE("Slots are used again so that there are as many as are in flight") {
  SlotPool slots;
  Mailbox mailbox;
  SlotIndex highest = 0;
  for (int i = 0; i < 10000; ++i) {
    const SlotIndex receive = mailbox.post(slots, Rank(i % 7), Tag(0), 0);
    const SlotIndex slot = mailbox.arrive(slots, Rank(i % 7), Tag(0), test::empty_message(1), 1);
    highest = std::max({highest, receive, slot});
    slots.release(slot);
  }
  CHECK(highest == 0);
}

TEST_CASE("A slot that is released holds its message no longer") {
  test::BodyCount count;
  SlotPool slots;
  Mailbox mailbox;
  CHECK(mailbox.arrive(slots, Rank(1), Tag(0), test::counted_message(count, Words(3)), 1) ==
        kNoSlot);
  const SlotIndex slot = mailbox.post(slots, Rank(1), Tag(0), 5);
  CHECK(slots[slot].arrived);
  CHECK(slots[slot].stamp == 5);
  CHECK(count.living == 1);
  slots.release(slot);
  CHECK(count.living == 0);
}

}  // namespace thinwire::networks
