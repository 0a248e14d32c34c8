// A sparse gradient, immutable and shared: in the exact model sorted coordinates and their values,
// in the statistical one (statistical.hpp) only their number and approximate location. The
// interface below hides the model from schemes.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sim/core/base/recycled_memory.hpp"
#include "sim/core/gradient/space.hpp"
#include "sim/core/gradient/sparse_body.hpp"
#include "sim/core/gradient/statistical.hpp"
#include "sim/core/kernel/message.hpp"

namespace thinwire::inline gradient {

/// A coordinate and its value.
struct Entry {
  std::uint32_t coordinate;
  float value;

  friend bool operator==(const Entry&, const Entry&) = default;
};

struct UnfilledVector;

/// A view of consecutive entries of a shared, immutable list. Copies and slices share the data.
class SparseVector {
 public:
  SparseVector() = default;
  /// Coordinates must increase strictly and values be finite; throws InputError with the first
  /// error.
  [[nodiscard]] static SparseVector checked(std::vector<Entry> entries);
  /// Takes a list that is known to be valid, without a check.
  [[nodiscard]] static SparseVector trusted(std::vector<Entry> entries);
  [[nodiscard]] static SparseVector from(const Payload& payload);
  /// A vector of `size` entries that are yet to be written, before anybody reads them. Its memory
  /// has room for `room` entries, at least `size`.
  [[nodiscard]] static UnfilledVector unfilled(std::size_t size, std::size_t room);
  /// Whether a payload is a sparse vector that is not empty.
  [[nodiscard]] static bool holds(const Payload& payload);

  [[nodiscard]] std::size_t size() const { return payload_.last - payload_.first; }
  [[nodiscard]] bool is_statistical() const { return payload_.body && body().is_statistical(); }
  /// The entries of the exact model; throws SimulationError in the statistical one, which has none.
  [[nodiscard]] std::span<const Entry> entries() const;
  [[nodiscard]] const Payload& payload() const { return payload_; }
  /// The body; when the vector is empty, a body of the exact model without entries.
  [[nodiscard]] const SparseBody& body() const {
    return payload_.body ? static_cast<const SparseBody&>(*payload_.body) : no_entries();
  }

  /// The entries at positions [first, last).
  [[nodiscard]] SparseVector slice(std::size_t first, std::size_t last) const;
  /// The position of the first entry, at `from` or later, whose coordinate is at least
  /// `coordinate`. The search is fast when that is near `from`.
  [[nodiscard]] std::size_t position_of(std::uint32_t coordinate, std::size_t from = 0) const;

  /// The same for many increasing coordinates.
  [[nodiscard]] std::vector<std::uint32_t> positions_of(std::span<const std::int64_t> cuts) const;
  /// The coordinates of the entries at increasing positions.
  [[nodiscard]] std::vector<std::int64_t> coordinates_at(
      std::span<const std::size_t> positions) const;

  [[nodiscard]] Message message(const GradientSpace& space) const {
    return {payload_, space.coo_words(static_cast<std::int64_t>(size()))};
  }

 private:
  [[nodiscard]] static const SparseBody& no_entries();
  explicit SparseVector(Payload payload) : payload_(std::move(payload)) {}

  Payload payload_;
};

/// A new vector, and its memory.
struct UnfilledVector {
  SparseVector vector;
  std::span<Entry> memory;
};

/// The union of the coordinates, with common ones added. An entry stays when values cancel.
[[nodiscard]] SparseVector sum(const SparseVector& a, const SparseVector& b);
/// The same for two vectors that lie in [first, last), a range that the statistical model would
/// otherwise have to guess.
[[nodiscard]] SparseVector sum_within(const SparseVector& a, const SparseVector& b,
                                      std::uint32_t first, std::uint32_t last);
/// The sum of any number of vectors; the order of additions depends on their density.
[[nodiscard]] SparseVector sum(std::span<const SparseVector> vectors);
/// Joins parts whose coordinates follow one another.
[[nodiscard]] SparseVector concatenate(std::span<const SparseVector> parts);

/// The k-th largest magnitude: infinity for k = 0, and 0 when there are fewer than k entries.
[[nodiscard]] float kth_magnitude(const SparseVector& vector, std::int64_t k);
/// The entries whose magnitude is at least `threshold`.
[[nodiscard]] SparseVector select_at_least(const SparseVector& vector, float threshold);
/// The min(k, size) entries of largest magnitude; the lower coordinate wins a tie.
[[nodiscard]] SparseVector select_largest(const SparseVector& vector, std::int64_t k);
/// The entries of largest magnitude in each bucket, of a vector that has all or none of its
/// coordinates before Buckets::end.
[[nodiscard]] SparseVector select_largest_in(const SparseVector& vector, const Buckets& buckets);
/// The entries of `vector` whose coordinate occurs in `other`.
[[nodiscard]] SparseVector intersect(const SparseVector& vector, const SparseVector& other);
/// The entries of `vector` whose coordinate does not occur in `other`.
[[nodiscard]] SparseVector without(const SparseVector& vector, const SparseVector& other);
/// The vector with all coordinates shifted by `by`, which may be negative.
[[nodiscard]] SparseVector moved(const SparseVector& vector, std::int64_t by);
/// The vector with its values times a factor.
[[nodiscard]] SparseVector scaled(const SparseVector& vector, float factor);
/// Whether two vectors have the same entries; for statistical ones, the same origin and size.
[[nodiscard]] bool equal(const SparseVector& a, const SparseVector& b);

/// Sums vectors in [first, last) that come one by one. Short vectors are deferred and added in
/// batches, because thousands of ranks take turns and nothing stays in cache in between. A dense
/// window of sums is allocated only once there are enough entries to fill a part of it.
class SparseAccumulator {
 public:
  SparseAccumulator(std::uint32_t first, std::uint32_t last) : first_(first), last_(last) {}
  void add(SparseVector vector);
  /// The sum, with an entry at every coordinate that was added to. The accumulator is then empty.
  [[nodiscard]] SparseVector finish();

 private:
  void fill_window();

  std::uint32_t first_;
  std::uint32_t last_;
  std::vector<SparseVector> put_off_;
  std::size_t put_off_entries_ = 0;
  RecycledArray<float> window_;         ///< of sums; undefined where nothing was added
  std::vector<std::uint64_t> touched_;  ///< a bit for each of them
  StatisticalUnion statistical_;
};

}  // namespace thinwire::inline gradient
