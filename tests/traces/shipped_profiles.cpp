#include "traces/shipped.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>

#include "sim/core/base/errors.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"
#include "traces/profile.hpp"

namespace thinwire::traces {

using test::contains;
using test::error_of;

TEST_CASE("shipped profiles are found by name and have the papers' sizes") {
  CHECK(kProfiles.names() == std::vector<std::string>{"bert", "lstm", "vgg16"});
  CHECK(read_profile(kProfiles.file("vgg16")).components == 14'728'266);
  CHECK(read_profile(kProfiles.file("lstm")).components == 27'569'568);
  CHECK(read_profile(kProfiles.file("bert")).components == 133'547'324);
  CHECK(kProfiles.file("any.json") == "any.json");
  CHECK(kProfiles.file("./any") == "./any");
  CHECK(contains(error_of<InputError>([] { (void)kProfiles.file("vgg"); }),
                 "unknown profile 'vgg'; did you mean 'vgg16'?"));
}

TEST_CASE("shipped profiles have the papers' fill-in by both families") {
  // Ok-Topk, Section 5.2; the third is an earlier study's transformer.
  struct Point {
    const char* profile;
    double density;
    int ranks;
    double fill_in;
  };
  for (const Point& point : {Point{"vgg16", 0.01, 16, 0.132}, Point{"lstm", 0.02, 32, 0.345},
                             Point{"bert", 0.01, 16, 0.092}}) {
    CAPTURE(std::string(point.profile));
    const Profile profile = read_profile(kProfiles.file(point.profile));
    for (const PopularityFamily family : {PopularityFamily::copula, PopularityFamily::beta}) {
      CHECK(union_density(profile, family, point.density, point.ranks) ==
            test::approx(point.fill_in).epsilon(0.001));
    }
  }
}

TEST_CASE("the two families part beyond the ranks that they are calibrated to") {
  for (const std::string& name : kProfiles.names()) {
    CAPTURE(name);
    const Profile profile = read_profile(kProfiles.file(name));
    const double copula = union_density(profile, PopularityFamily::copula, profile.density, 8192);
    const double beta = union_density(profile, PopularityFamily::beta, profile.density, 8192);
    CHECK(copula > beta);
    CHECK(beta > 0.5);
  }
}

TEST_CASE("the shipped profiles are what their program makes") {
  const test::TemporaryFolder folder;
  const std::string command =
      std::string("'") + THINWIRE_MAKE_PROFILES + "' '" + folder.path("") + "'";
  REQUIRE(std::system(command.c_str()) == 0);  // NOLINT(concurrency-mt-unsafe)
  for (const std::string& name : kProfiles.names()) {
    CAPTURE(name);
    CHECK(test::text_of(folder.path(name + ".json")) == test::text_of(kProfiles.file(name)));
  }
}

}  // namespace thinwire::traces
