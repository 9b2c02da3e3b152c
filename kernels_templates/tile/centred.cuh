// Means and sums of squares of distances to a mean, in one pass: parts of a row have centres of
// their own, to which their elements are near, and move to a common one when they meet (T. Chan, G.
// Golub, R. LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances",
// 1979). Nothing large is subtracted from anything large, however far from 0 the elements are.
#pragma once

#include "tile/types.cuh"

namespace tile {

// Products that are not joined with an addition, so that a + b and b + a have the same bits.
TILE_DEVICE float rounded_product(float a, float b) {
  return __fmul_rn(a, b);
}
TILE_DEVICE double rounded_product(double a, double b) {
  return __dmul_rn(a, b);
}
// An approximation is enough: what a centre is off by is kept in the sum of distances.
TILE_DEVICE float about_one_over(float x) {
  return __fdividef(1, x);
}
TILE_DEVICE double about_one_over(double x) {
  return 1 / x;
}

template <class T>
struct Centred {
  T centre = 0, count = 0;
  T sum = 0, squares = 0;  // of the distances to the centre

  // The first element of a part is its centre. One of n elements lies within sqrt(n) standard
  // deviations of their mean, so parts must have few elements before they are combined.
  TILE_DEVICE void fold(T x) {
    if (count == 0) centre = x;
    const T distance = x - centre;
    count += 1;
    sum += distance;
    squares += distance * distance;
  }

  // The result has the same bits from both sides.
  TILE_DEVICE void combine(const Centred& other) {
    const T both = count + other.count, share = about_one_over(both);
    const T moved = rounded_product(count * share, centre) +
                    rounded_product(other.count * share, other.centre) + (sum + other.sum) * share;
    const bool alike = centre == other.centre || count == 0 || other.count == 0;
    const bool stays = alike && sum == 0 && other.sum == 0;
    const T to = !stays ? moved : count == 0 ? other.centre : centre;
    const Centred a = moved_to(to), b = other.moved_to(to);
    *this = {to, both, a.sum + b.sum, a.squares + b.squares};
  }

  // The sum of the distances to `mean`, which may have a rounding error, and of their squares.
  TILE_DEVICE T distances_to(T mean) const { return count * ((centre - mean) + sum / count); }
  TILE_DEVICE T squares_about(T mean) const {
    const T least = squares - sum * (sum / count), excess = distances_to(mean);
    return (least < 0 ? T(0) : least) + excess * (excess / count);
  }

 private:
  TILE_DEVICE Centred moved_to(T to) const {
    const T by = to - centre;
    return {to, count, sum - count * by, squares + by * (count * by - 2 * sum)};
  }
};

}  // namespace tile
