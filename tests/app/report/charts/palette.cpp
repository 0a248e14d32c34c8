#include "sim/app/report/charts/palette.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace thinwire::report {

namespace {

using Triple = std::array<double, 3>;
using Matrix = std::array<Triple, 3>;

/// Of linear RGB: Machado, Oliveira, Fernandes (2009), severity 1.0.
constexpr std::array<Matrix, 4> kSights{{{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
                                         {{{0.152286, 1.052583, -0.204868},
                                           {0.114503, 0.786281, 0.099216},
                                           {-0.003882, -0.048116, 1.051998}}},
                                         {{{0.367322, 0.860646, -0.227968},
                                           {0.280085, 0.672501, 0.047413},
                                           {-0.011820, 0.042940, 0.968881}}},
                                         {{{1.255528, -0.076749, -0.178779},
                                           {-0.078411, 0.930809, 0.147602},
                                           {0.004733, 0.691367, 0.303900}}}}};

Triple times(const Matrix& matrix, const Triple& vector) {
  Triple product{};
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t i = 0; i < 3; ++i) product.at(row) += matrix.at(row).at(i) * vector.at(i);
    product.at(row) = std::clamp(product.at(row), 0.0, 1.0);
  }
  return product;
}

Triple linear(const std::string& colour) {
  Triple all{};
  for (std::size_t i = 0; i < 3; ++i) {
    const double value = std::stoi(colour.substr(1 + 2 * i, 2), nullptr, 16) / 255.0;
    all.at(i) = value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
  }
  return all;
}

/// CIELAB of linear sRGB, under D65.
Triple lab(const Triple& rgb) {
  const auto f = [](double t) { return t > 0.008856 ? std::cbrt(t) : 7.787 * t + 16.0 / 116; };
  const double x = f((0.4124 * rgb[0] + 0.3576 * rgb[1] + 0.1805 * rgb[2]) / 0.9505);
  const double y = f(0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2]);
  const double z = f((0.0193 * rgb[0] + 0.1192 * rgb[1] + 0.9505 * rgb[2]) / 1.089);
  return {116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

}  // namespace

namespace {

double apart(const char* a, const char* b, const Matrix& sight) {
  const Triple one = lab(times(sight, linear(a)));
  const Triple other = lab(times(sight, linear(b)));
  return std::hypot(one[0] - other[0], one[1] - other[1], one[2] - other[2]);
}

template <std::size_t kCount>
void check_differ(const Shades<kCount>& colours) {
  for (const auto& shades : colours) {
    for (const Matrix& sight : kSights) {
      for (std::size_t i = 0; i < shades.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
          CAPTURE(shades.at(i));
          CAPTURE(shades.at(j));
          CHECK(apart(shades.at(i), shades.at(j), sight) > 20);
        }
      }
    }
  }
}

}  // namespace

TEST_CASE("series differ in their colours also for the colour-blind, and so do parts of bars") {
  check_differ(kColours);
  check_differ(kPartColours);
}

TEST_CASE("no part of a bar has the colour of a series") {
  for (std::size_t shade = 0; shade < kColours.size(); ++shade) {
    for (const char* part : kPartColours.at(shade)) {
      for (const char* series : kColours.at(shade)) {
        CAPTURE(part);
        CAPTURE(series);
        CHECK(apart(part, series, kSights.front()) > 15);
      }
    }
  }
}

}  // namespace thinwire::report
