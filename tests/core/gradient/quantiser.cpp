#include "sim/core/gradient/quantiser.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "sim/core/base/errors.hpp"
#include "tests/support/gradients.hpp"

namespace thinwire::inline gradient {

namespace {

std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }

}  // namespace

TEST_CASE("Quantised values are one of the levels, off by less than one, and have their sign") {
  for (const std::int64_t granule : {1, 4}) {
    const GradientSpace space{.components = 3000 * granule, .granule = granule};
    const DenseBlock block = test::dense_gradient(3000, 1);
    for (const int bits : {2, 4, 8}) {
      CAPTURE(bits);
      CAPTURE(granule);
      const Quantiser quantiser{.bits = bits};
      const DenseBlock result = quantiser.quantised(block, space, 7);
      CHECK(result.size() == block.size());
      const std::size_t width = 1024 / static_cast<std::size_t>(granule);
      const double levels = (1 << (bits - 1)) - 1;
      bool right = true;
      for (std::size_t begin = 0; begin < 3000; begin += width) {
        const std::size_t end = std::min<std::size_t>(3000, begin + width);
        double scale = 0;
        for (std::size_t i = begin; i < end; ++i) {
          scale = std::max<double>(scale, std::abs(block.values()[i]));
        }
        for (std::size_t i = begin; i < end; ++i) {
          const double value = block.values()[i];
          const double level = result.values()[i] / scale * levels;
          right = right && std::abs(level - std::round(level)) < 1e-3;
          right = right && std::abs(result.values()[i] - value) < scale / levels * (1 + 1e-5);
          right = right && result.values()[i] * value >= 0;
        }
      }
      CHECK(right);
    }
  }
}

TEST_CASE("Quantising is repeatable by its key, and leaves zeros and single values alone") {
  const GradientSpace space{.components = 100, .granule = 1};
  const DenseBlock block = test::dense_gradient(100, 3);
  const Quantiser quantiser{.bits = 4};
  const auto values = [&](std::uint64_t key) {
    const DenseBlock result = quantiser.quantised(block, space, key);
    return std::vector<float>(result.values().begin(), result.values().end());
  };
  CHECK(values(1) == values(1));
  CHECK(values(1) != values(2));
  const DenseBlock zeros(0, std::vector<float>(10));
  const DenseBlock same = quantiser.quantised(zeros, space, 1);
  CHECK(std::ranges::all_of(same.values(), [](float value) { return value == 0; }));
  CHECK(quantiser.quantised(DenseBlock(5, {-3.5F}), space, 1).values()[0] == -3.5F);
  CHECK(quantiser.quantised(DenseBlock(), space, 1).size() == 0);
}

TEST_CASE("Quantised lengths are bits, rounded up to words, and a scale a bucket") {
  CHECK(Quantiser{.bits = 8}.words(1024) == Words(256 + 1));
  CHECK(Quantiser{.bits = 4}.words(1025) == Words(129 + 2));
  CHECK(Quantiser{.bits = 2}.words(16) == Words(1 + 1));
  CHECK(Quantiser{.bits = 2}.words(0) == Words(0));
}

TEST_CASE("Codes give every level back, in buckets that end within a byte too") {
  for (const int bits : {1, 2, 4, 8}) {
    for (const std::size_t size : {0, 1, 7, 8, 9, 100}) {
      for (const std::int64_t bucket : {1, 3, 1024}) {
        CAPTURE(bits);
        CAPTURE(size);
        CAPTURE(bucket);
        Quantisation how{.bits = bits, .bucket = bucket, .scales = {}};
        std::vector<float> values;
        const int levels = std::max(1, (1 << (bits - 1)) - 1);
        for (std::size_t i = 0; i < size; ++i) {
          const std::size_t at = i / static_cast<std::size_t>(bucket);
          if (at == how.scales.size())
            how.scales.push_back(at % 4 == 3 ? 0 : 0.3F / static_cast<float>(at + 1));
          const auto level = static_cast<float>(bits == 1 ? 1 : (i * 7) % (levels + 1));
          const float magnitude = how.scales[at] * level / static_cast<float>(levels);
          values.push_back(i % 3 == 0 ? -magnitude : magnitude);
        }
        const std::int64_t words = quantised_words(static_cast<std::int64_t>(size), bits, bucket);
        std::vector<std::byte> bytes(static_cast<std::size_t>(words) * 4, std::byte{0xff});
        pack_quantised(values, how, bytes);
        Quantisation read{.bits = bits, .bucket = bucket, .scales = {}};
        std::vector<float> same(size);
        unpack_quantised(bytes, read, same);
        CHECK(read.scales == how.scales);
        CHECK(std::ranges::equal(same, values, {}, bits_of, bits_of));
      }
    }
  }
}

TEST_CASE("What is no level, and what is no number, has no code") {
  std::vector<std::byte> bytes(8);
  const Quantisation how{.bits = 8, .bucket = 1024, .scales = {1}};
  const auto pack = [&](float value) { pack_quantised(std::vector{value}, how, bytes); };
  pack(1);
  CHECK_THROWS_AS(pack(0.5F), SimulationError);
  CHECK_THROWS_AS(pack(2), SimulationError);
  CHECK_THROWS_AS(pack(std::numeric_limits<float>::quiet_NaN()), SimulationError);
  CHECK_THROWS_AS(pack(std::numeric_limits<float>::infinity()), SimulationError);
  const Quantisation odd{.bits = 3, .bucket = 1024, .scales = {1}};
  CHECK_THROWS_AS(pack_quantised(std::vector{1.0F}, odd, bytes), SimulationError);
}

}  // namespace thinwire::inline gradient
