#include "sim/machine/networks/links/link_use.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "sim/core/base/random.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/networks.hpp"

namespace thinwire::networks {

using test::exactly;

namespace {

/// Links of 1 GB/s, whose names are not in the order of their indexes.
std::vector<topologies::PlatformLink> some_links(int count) {
  std::vector<topologies::PlatformLink> links;
  for (int i = 0; i < count; ++i) {
    links.push_back({std::string(1, static_cast<char>('z' - i)), 1e9, Seconds(1e-6), false});
  }
  return links;
}

}  // namespace

TEST_CASE("Bytes on links add up, and are reported by name where there are any") {
  const std::vector<topologies::PlatformLink> links = some_links(6);
  LinkUse use(links);
  std::vector<std::int64_t> bytes(links.size());
  std::uint64_t counter = 0;
  const auto draw = [&](std::uint64_t below) { return random_bits(3, counter++) % below; };
  double end = 0;
  for (int i = 0; i < 5000; ++i) {
    std::vector<topologies::LinkIndex> crossed;
    for (topologies::LinkIndex link = 0; link < 5; ++link) {  // nobody crosses the last
      if (draw(2) == 0) crossed.push_back(link);
    }
    const auto size = static_cast<std::int64_t>(draw(1'000'000'000));
    const double begin = 1e-4 * static_cast<double>(draw(10 + static_cast<std::uint64_t>(i)));
    use.add(crossed, static_cast<double>(size), begin, begin + static_cast<double>(draw(100)));
    end = std::max(end, begin + 100);
    for (const topologies::LinkIndex link : crossed) bytes[link] += size;
  }
  const std::vector<LinkReport> reports = use.reports(end);
  REQUIRE(reports.size() == 5);
  CHECK(std::ranges::is_sorted(reports, {}, &LinkReport::name));
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const std::size_t link = 4 - i;
    CHECK(reports[i].name == links[link].name);
    CHECK(reports[i].bandwidth == 1e9);
    CHECK(reports[i].carried.value() == bytes[link]);
    CHECK(reports[i].mean_utilisation == exactly(static_cast<double>(bytes[link]) / (1e9 * end)));
    CHECK(reports[i].peak_utilisation >= reports[i].mean_utilisation);
  }
}

TEST_CASE("The peak of a link is its use in the part of the run in which it carried most") {
  const std::vector<topologies::PlatformLink> links = some_links(2);
  LinkUse use(links);
  const std::vector<topologies::LinkIndex> first{0};
  const std::vector<topologies::LinkIndex> second{1};
  use.add(second, 1e8, 0, 1);
  use.add(first, 5e8, 0.5, 1);
  std::vector<LinkReport> reports = use.reports(1);
  REQUIRE(reports.size() == 2);
  CHECK(reports[1].mean_utilisation == exactly(0.5));
  CHECK(reports[1].peak_utilisation == test::approx(1).epsilon(1e-6));
  CHECK(reports[0].mean_utilisation == exactly(0.1));
  CHECK(reports[0].peak_utilisation == test::approx(0.1).epsilon(1e-6));

  // A hundred times as long a run: its parts are now two seconds.
  use.add(first, 1e9, 99, 100);
  reports = use.reports(100);
  CHECK(reports[1].mean_utilisation == exactly(1.5e9 / 100e9));
  CHECK(reports[1].peak_utilisation == test::approx(0.5).epsilon(1e-6));
  CHECK(reports[0].peak_utilisation == test::approx(0.05).epsilon(1e-6));
}

TEST_CASE("A run of any length has no peak above what its links carry") {
  const std::vector<topologies::LinkIndex> link{0};
  for (const double step : {1e-9, 3e-5, 0.1, 7.0}) {
    const std::vector<topologies::PlatformLink> links = some_links(1);
    LinkUse use(links);
    double begin = 0;
    for (int i = 0; i < 1000; ++i) {
      const double end = begin + step * (1 + i % 7);
      use.add(link, 0.5e9 * (end - begin), begin, end);  // half of the link, all the time
      begin = end;
    }
    const std::vector<LinkReport> reports = use.reports(begin);
    CHECK(reports[0].mean_utilisation == test::approx(0.5).epsilon(1e-6));
    CHECK(reports[0].peak_utilisation == test::approx(0.5).epsilon(1e-3));
  }
}

TEST_CASE("Messages without bytes leave no trace on the links") {
  const std::vector<topologies::PlatformLink> links = some_links(2);
  LinkUse use(links);
  const std::vector<topologies::LinkIndex> both{0, 1};
  use.add(both, 0, 0, 1);
  use.add(both, 0, 0, 0);
  CHECK(use.reports(1).empty());
  CHECK(use.reports(0).empty());
}

TEST_CASE("Messages that cross no link leave no trace, be they ever so fast") {
  const std::vector<topologies::PlatformLink> links = some_links(1);
  LinkUse use(links);
  use.add({}, 4e6, 0, 0);
  CHECK(use.reports(1).empty());
  const std::vector<topologies::LinkIndex> link{0};
  use.add(link, 1e6, 0, 1e-3);
  CHECK(use.reports(1e-3)[0].carried.value() == 1'000'000);
}

}  // namespace thinwire::networks
