#include "traces/profile.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <tuple>

#include "sim/core/base/errors.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/profiles.hpp"
#include "tests/support/temporary_folder.hpp"

namespace thinwire::traces {

using test::contains;
using test::error_of;
using test::small_profile;
using test::TemporaryFolder;
using test::text_of;

namespace {

constexpr std::array kFamilies{PopularityFamily::copula, PopularityFamily::beta};

/// One region of relative density 1.
Profile uniform_profile(double rho, double beta_a, double never = 0) {
  Profile profile = small_profile();
  profile.layers = {{"all", 0, profile.components}};
  profile.regions = {{0, profile.components, 1}};
  profile.popularity = {
      .rho = rho, .beta_a = beta_a, .never = never, .block = 256, .clustering = 0, .bursts = 0};
  return profile;
}

/// Mean over a standard normal z of what `function` gives, by the trapezoid rule.
template <class Function>
double mean_over_z(Function function) {
  constexpr double kStep = 1e-3;
  double sum = 0;
  for (double z = -9; z <= 9; z += kStep) sum += kStep * std::exp(-z * z / 2) * function(z);
  return sum / std::sqrt(2 * std::numbers::pi);
}

/// `text` where the first `from` is exchanged.
std::string exchanged(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("what is written is read again, bit for bit") {
  const TemporaryFolder folder;
  Profile profile = small_profile();
  profile.name = "a \"name\" / with ~ all";
  profile.popularity.rho = 1.0 / 3;
  profile.provenance["popularity.rho"] = {"fitted", "a trace"};
  const std::string path = folder.path("profile.json");
  write_profile(profile, path);
  const Profile read = read_profile(path);
  CHECK(read.name == profile.name);
  CHECK(read.source == profile.source);
  CHECK(read.components == profile.components);
  CHECK(read.density == profile.density);
  CHECK(read.layers == profile.layers);
  REQUIRE(read.regions.size() == profile.regions.size());
  for (std::size_t i = 0; i < read.regions.size(); ++i) {
    CHECK(read.regions[i].layer == profile.regions[i].layer);
    CHECK(read.regions[i].size == profile.regions[i].size);
    CHECK(read.regions[i].density == profile.regions[i].density);
  }
  CHECK(read.popularity.rho == profile.popularity.rho);
  CHECK(read.popularity.block == profile.popularity.block);
  CHECK(read.popularity.clustering == profile.popularity.clustering);
  CHECK(read.magnitudes.shape == profile.magnitudes.shape);
  CHECK(read.thresholds.memory == profile.thresholds.memory);
  CHECK(read.provenance.at("popularity.rho").kind == "fitted");
  CHECK(read.provenance.at("popularity.rho").from == "a trace");
  write_profile(read, folder.path("again.json"));
  CHECK(text_of(folder.path("again.json")) == text_of(path));
}

TEST_CASE("without popularity a union is a union of independent ranks") {
  for (const double d : {1e-6, 0.01, 0.3, 0.999}) {
    for (const double ranks : {1.0, 2.0, 7.0, 100.0, 8192.0}) {
      CAPTURE(d);
      CAPTURE(ranks);
      const double independent = -std::expm1(ranks * std::log1p(-d));
      CHECK(union_density(uniform_profile(0, 1), PopularityFamily::copula, d, ranks) ==
            test::approx(independent).epsilon(1e-12));
      // A Beta distribution of a large a is a point, which the numbers of a sum only come near.
      const double by_beta =
          union_density(uniform_profile(0, 1e9), PopularityFamily::beta, d, ranks);
      CHECK(std::abs(by_beta - independent) < 1e-5);
    }
  }
}

TEST_CASE("the union of one rank is its density") {
  for (const PopularityFamily family : kFamilies) {
    for (const double never : {0.0, 0.3}) {
      for (const double strength : {0.01, 0.3, 0.9, 0.99, 0.999}) {
        for (const double d : {1e-7, 0.001, 0.02, 0.6, 0.9, 1.0}) {
          CAPTURE(never);
          CAPTURE(strength);
          CAPTURE(d);
          const Profile profile = uniform_profile(strength, 1 / strength - 1, never);
          CHECK(union_density(profile, family, d, 1) == test::approx(d).epsilon(1e-5));
        }
      }
    }
  }
}

TEST_CASE("nobody selects nothing, and all of them together select more") {
  const Profile profile = small_profile();
  for (const PopularityFamily family : kFamilies) {
    CHECK(union_density(profile, family, 0.02, 0) == 0);
    double before = 0;
    for (double ranks = 1; ranks <= 8192; ranks *= 2) {
      const double now = union_density(profile, family, 0.02, ranks);
      CHECK(now > before);
      CHECK(now <= 1);
      before = now;
    }
  }
}

TEST_CASE("a union of the Beta family is the product that its moments are") {
  // E[(1 - p)^P] = Π (b + j) / (a + b + j).
  for (const double a : {0.1, 0.528, 6.5}) {
    for (const double d : {0.01, 0.2}) {
      const double b = a * (1 - d) / d;
      double none = 1;
      for (int j = 0; j < 300; ++j) none *= (b + j) / (a + b + j);
      CHECK(union_density(uniform_profile(0, a), PopularityFamily::beta, d, 300) ==
            test::approx(1 - none).epsilon(1e-11));
    }
  }
}

TEST_CASE("two ranks of a copula meet as often as two normal values of correlation rho") {
  // At density 1/2 both are above 0 with probability 1/4 + asin(rho) / 2 pi.
  for (const double rho : {0.0, 0.1, 0.5, 0.9, 0.999}) {
    const double both = 0.25 + std::asin(rho) / (2 * std::numbers::pi);
    CHECK(union_density(uniform_profile(rho, 1), PopularityFamily::copula, 0.5, 2) ==
          test::approx(1 - both).epsilon(1e-9));
  }
}

TEST_CASE("an earlier study's points come out by both families") {
  CHECK(union_density(uniform_profile(0.175, 0.528), PopularityFamily::copula, 0.01, 16) ==
        test::approx(0.132).epsilon(0.005));
  CHECK(union_density(uniform_profile(0.175, 0.528), PopularityFamily::beta, 0.01, 16) ==
        test::approx(0.132).epsilon(0.005));
  CHECK(union_density(uniform_profile(0.233, 0.510), PopularityFamily::copula, 0.02, 32) ==
        test::approx(0.345).epsilon(0.005));
  CHECK(union_density(uniform_profile(0.233, 0.510), PopularityFamily::beta, 0.02, 32) ==
        test::approx(0.345).epsilon(0.005));
}

TEST_CASE("probabilities rise with popularity and their mean is the density") {
  for (const PopularityFamily family : kFamilies) {
    for (const double never : {0.0, 0.25}) {
      for (const double d : {1e-4, 0.01, 0.3, 0.9}) {
        CAPTURE(never);
        CAPTURE(d);
        const Popularity popularity{
            .rho = 0.3, .beta_a = 0.7, .never = never, .block = 256, .clustering = 0, .bursts = 0};
        double before = 0;
        for (double z = -40; z <= 40; z += 0.5) {
          const double p = selection_probability(popularity, family, d, z);
          CHECK(p >= before);
          CHECK(p <= 1);
          before = p;
        }
        const double mean =
            mean_over_z([&](double z) { return selection_probability(popularity, family, d, z); });
        CHECK(mean == test::approx(d).epsilon(1e-3));
      }
      const Popularity popularity{
          .rho = 0.3, .beta_a = 0.7, .never = never, .block = 256, .clustering = 0, .bursts = 0};
      for (const double z : {-3.0, 0.0, 3.0}) {
        CHECK(selection_probability(popularity, family, 0, z) == 0);
        CHECK(selection_probability(popularity, family, 1, z) == 1);
      }
    }
  }
}

TEST_CASE("a share is never selected, and the others make up for it") {
  const Popularity popularity{
      .rho = 0.3, .beta_a = 0.7, .never = 0.5, .block = 256, .clustering = 0, .bursts = 0};
  for (const PopularityFamily family : kFamilies) {
    CHECK(selection_probability(popularity, family, 0.01, -0.01) == 0);
    CHECK(selection_probability(popularity, family, 0.01, 0.5) > 0);
    const double at_last = union_density(uniform_profile(0.3, 0.7, 0.5), family, 0.2, 1e7);
    CHECK(at_last == test::approx(0.5).epsilon(1e-3));
  }
}

TEST_CASE("a union is what a serial generator of the model selects") {
  Profile profile = small_profile(40'000);
  for (const double never : {0.0, 0.2}) {
    profile.popularity.never = never;
    profile.popularity.clustering = 0;
    for (const PopularityFamily family : kFamilies) {
      std::mt19937_64 random(1);
      const std::vector<double> p = test::draw_probabilities(profile, family, random);
      std::uniform_real_distribution<double> uniform;
      std::vector<bool> selected(p.size());
      for (int ranks = 1; ranks <= 32; ++ranks) {
        for (std::size_t i = 0; i < p.size(); ++i) {
          if (uniform(random) < p[i]) selected[i] = true;
        }
        if (ranks != 1 && ranks != 4 && ranks != 32) continue;
        const auto together = static_cast<double>(std::ranges::count(selected, true));
        CAPTURE(never);
        CAPTURE(ranks);
        CHECK(together / static_cast<double>(p.size()) ==
              test::approx(union_density(profile, family, profile.density, ranks)).epsilon(0.04));
      }
    }
  }
}

TEST_CASE("regions keep their proportion, up to 1, and the mean is right") {
  const Profile profile = small_profile();
  for (const double density : {0.0, 1e-6, 0.02, 0.5, 0.65, 0.8, 0.97, 1.0}) {
    CAPTURE(density);
    const std::vector<double> densities = region_densities(profile, density);
    double sum = 0;
    for (std::size_t i = 0; i < densities.size(); ++i) {
      CHECK(densities[i] >= 0);
      CHECK(densities[i] <= 1);
      if (density > 0 && densities[i] < 1 && densities[3] < 1) {
        CHECK(densities[i] / densities[3] ==
              test::approx(profile.regions[i].density / profile.regions[3].density));
      }
      sum += densities[i] * static_cast<double>(profile.regions[i].size);
    }
    CHECK(sum / static_cast<double>(profile.components) == test::approx(density));
  }
}

TEST_CASE("a region that the profile never selects is selected once all others are full") {
  Profile profile = small_profile();
  profile.regions[3].density = 0;
  const std::vector<double> densities = region_densities(profile, 0.9);
  CHECK(densities[0] == 1);
  CHECK(densities[2] == 1);
  CHECK(densities[3] == test::approx(0.6));
  CHECK(region_densities(profile, 0.1)[3] == 0);
}

TEST_CASE("bad profiles are refused with file, pointer, value and what would be right") {
  const TemporaryFolder folder;
  write_profile(small_profile(), folder.path("good.json"));
  const std::string good = text_of(folder.path("good.json"));
  const std::array<std::tuple<const char*, const char*, const char*>, 32> cases{{
      {"thinwire-profile", "thinwire-trace", "/format: \"thinwire-trace\" is not valid; expected"},
      {"\"version\": 1", "\"version\": 2", "/version: 2 is not valid; expected 1"},
      {"\"name\": \"small\"", "\"name\": 3", "/name: 3 is not valid; expected a text"},
      {"\"name\": \"small\"", "\"nam\": 3", "/nam: unknown key 'nam'; did you mean 'name'?"},
      {"  \"name\": \"small\",\n", "", "/: the key 'name' is missing"},
      {"40000,", "-1,", "/components: -1 is not valid; expected a whole number, at least 1"},
      {"40000,", "4e4,", "/components: 40000.0 is not valid; expected a whole number"},
      {"40000,", "18446744073709551615,", "/components: 18446744073709551615 is not valid"},
      {"40000,", "40001,", "/layers: their sizes add up to 40000, expected the 40001"},
      {"\"density\": 0.02", "\"density\": 1.5", "/density: 1.5 is not valid"},
      {"\"density\": 0.02", "\"density\": 0", "/density: 0 is not valid; expected a number above"},
      {"\"density\": 0.02", "\"density\": null", "/density: null is not valid; expected a number"},
      {"\"density\": 0.02", "\"density\": 1e999", "a number is too large"},
      {"\"rho\":0.25", "\"rho\":1.0", "/popularity/rho: 1 is not valid; expected a number, at "},
      {"\"rho\":0.25", "\"rho\":-0.1", "/popularity/rho: -0.1 is not valid"},
      {"\"rho\":0.25", "\"rh\":0.1", "/popularity/rh: unknown key 'rh'; did you mean 'rho'?"},
      {"\"beta_a\":0.8", "\"beta_a\":0", "/popularity/beta_a: 0 is not valid; expected a number "},
      {"\"never\":0.0", "\"never\":1", "/popularity/never: 1 is not valid"},
      {"\"never\":0.0", "\"never\":0.97", "/regions/0/density: 1.6 is not valid; expected at mo"},
      {"\"clustering\":0.5", "\"clustering\":1.5", "/popularity/clustering: 1.5 is not valid"},
      {"\"block\":256", "\"block\":0", "/popularity/block: 0 is not valid"},
      {"\"mean\":0.3", "\"mean\":0.5", "/magnitudes/mean: 0.5 is not valid; expected at most rms"},
      {"\"noise\":0.01", "\"noise\":-0.01", "/thresholds/noise: -0.01 is not valid"},
      {"\"memory\":20.0", "\"memory\":\"20\"", "/thresholds/memory: \"20\" is not valid"},
      {"\"size\":10000}", "\"size\":0}", "/layers/0/size: 0 is not valid"},
      {"\"layer\":1", "\"layer\":3", "/regions/1/layer: 3 is not valid; expected the position"},
      {"\"layer\":1", "\"layer\":-1", "/regions/1/layer: -1 is not valid"},
      {"\"layer\":2", "\"layer\":0", "/regions/3/layer: 0 is not valid; expected at least 1"},
      {"\"density\":1.6", "\"density\":51", "/regions/0/density: 51 is not valid; expected at mo"},
      {"\"density\":1.6", "\"density\":1.7", "/regions: the densities' mean over components is 1"},
      {"{\"kind\":\"assumed\"", "{\"kind\":\"guessed\"", "/provenance/layers/kind: 'guessed' is n"},
      {"\"popularity.rho\"", "\"popularity.roh\"",
       "/provenance/popularity.roh: unknown key 'popularity.roh'; did you mean 'popularity.rho'?"},
  }};
  for (const auto& [from, to, what] : cases) {
    CAPTURE(from);
    CAPTURE(to);
    const std::string path = folder.write("bad.json", exchanged(good, from, to));
    const std::string error = error_of<InputError>([&] { (void)read_profile(path); });
    CAPTURE(error);
    CHECK(contains(error, path + ": "));
    CHECK(contains(error, what));
    CHECK_FALSE(contains(error, "\n"));
  }
}

TEST_CASE("regions that do not fill their layer are refused") {
  const TemporaryFolder folder;
  Profile profile = small_profile();
  profile.regions[1].size -= 5;
  CHECK(contains(error_of<InputError>([&] { write_profile(profile, folder.path("x.json")); }),
                 "/regions: the regions of layer 1 ('second') add up to 19995 components; the "
                 "layer has 20000"));
}

TEST_CASE("an entry that does not say where it comes from is refused") {
  const TemporaryFolder folder;
  Profile profile = small_profile();
  profile.provenance.erase("magnitudes.below");
  CHECK(contains(error_of<InputError>([&] { write_profile(profile, folder.path("x.json")); }),
                 "/provenance: the key 'magnitudes.below' is missing"));
  profile.provenance["magnitudes.below"] = {"assumed", ""};
  CHECK(contains(error_of<InputError>([&] { write_profile(profile, folder.path("x.json")); }),
                 "/provenance/magnitudes.below/from: '' is not valid"));
}

TEST_CASE("what is not finite is not written") {
  const TemporaryFolder folder;
  Profile profile = small_profile();
  profile.magnitudes.scale = std::numeric_limits<double>::quiet_NaN();
  CHECK(contains(error_of<InputError>([&] { write_profile(profile, folder.path("x.json")); }),
                 "/magnitudes/scale: nan is not valid"));
}

TEST_CASE("what is no JSON is refused with the line, and what is no file by its name") {
  const TemporaryFolder folder;
  const auto refusal = [](const std::string& path) {
    return error_of<InputError>([&] { (void)read_profile(path); });
  };
  CHECK(contains(refusal(folder.write("x.json", "{\n\"name\": ?}")), "x.json:2:9: not JSON"));
  CHECK(contains(refusal(folder.write("empty.json", "")), "empty.json:1:1: not JSON"));
  CHECK(contains(refusal(folder.write("list.json", "[1]")), "/: [1] is not valid; expected an o"));
  CHECK(contains(refusal(folder.path("none.json")), "none.json: cannot be read"));
  CHECK(contains(refusal(folder.path(".")), "cannot be read"));
}

}  // namespace thinwire::traces
