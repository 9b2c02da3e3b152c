// Softmax of rows of which a warpgroup sees one block of columns after another, with the sums of
// earlier blocks rescaled when a row's maximum grows (M. Milakov, N. Gimelshein, "Online normalizer
// calculation for softmax", 2018). A thread has two rows, lane / 4 and 8 below, in the order of
// wgmma's sums; each row lies in four lanes.
#pragma once

#include "tile/approximations.cuh"
#include "tile/math.cuh"

namespace tile {

// Weights are relative to a score, which remains a maximum of earlier blocks as long as no weight
// is above 2^kMostGrowth. So what was summed up is rarely rescaled, and the lanes of a row rarely
// have to compare their maxima.
template <int kMostGrowth>
struct SoftmaxRows {
  float reference[2];  // a score
  float maximum[2];    // of scores; of this lane's columns only, until `settle` or `finish_maxima`
  float sum[2];        // of this lane's columns only, until `finish`

  TILE_DEVICE void clear() {
    maximum[0] = maximum[1] = reference[0] = reference[1] = -math::inf_f32();
    sum[0] = sum[1] = 0;
  }

  // s becomes exp2(scale * (s - reference)); what was summed up so far for row e is to be
  // multiplied by factor[e]. scale > 0. Rows that are -infinity so far get 0.
  template <int kCount>
  TILE_DEVICE void take(float (&s)[kCount], float (&factor)[2], float scale) {
    grow(s, factor, scale);
    weigh(s, factor, scale);
  }

  // The two halves of it: the maximum, and the exponentials.
  template <int kCount>
  TILE_DEVICE void grow(const float (&s)[kCount], float (&factor)[2], float scale) {
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      note_row(e, s);
      settle_row(e, factor[e], scale);
    }
  }

  // The two halves of `grow`. Without the latter, factors are 1.
  template <int kCount>
  TILE_DEVICE void note(const float (&s)[kCount]) {
#pragma unroll
    for (int e = 0; e < 2; ++e) note_row(e, s);
  }
  TILE_DEVICE void settle(float (&factor)[2], float scale) {
#pragma unroll
    for (int e = 0; e < 2; ++e) settle_row(e, factor[e], scale);
  }
  // Whether a row of the warp has to be settled, `growth` being kMostGrowth / scale.
  TILE_DEVICE bool is_unsettled(float growth) const {
    return __any_sync(0xffffffffu,
                      maximum[0] - reference[0] > growth || maximum[1] - reference[1] > growth);
  }

  template <int kCount>
  TILE_DEVICE void weigh(float (&s)[kCount], const float (&factor)[2], float scale) {
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const float shift = shift_of(reference[e], scale);
      float own = 0;
#pragma unroll
      for (int i = 0; i < kCount / 4; ++i) {
        const float x = math::fast_exp2(s[4 * i + 2 * e] * scale - shift);
        const float y = math::fast_exp2(s[4 * i + 2 * e + 1] * scale - shift);
        s[4 * i + 2 * e] = x;
        s[4 * i + 2 * e + 1] = y;
        own += x + y;
      }
      sum[e] = sum[e] * factor[e] + own;
    }
  }

  // Without maxima: x becomes the weights of scores from kFirst on, relative to the reference, and
  // own[e] grows by their sums. A reference of -infinity makes them infinite. kFirst is a multiple
  // of 4.
  template <int kFirst, int kSome, int kCount>
  TILE_DEVICE void weigh_apart(float (&x)[kSome], const float (&s)[kCount], float (&own)[2],
                               float scale) const {
    const float shift[2] = {reference[0] * scale, reference[1] * scale};
#pragma unroll
    for (int i = 0; i < kSome; i += 2) {
      x[i] = math::fast_exp2(s[kFirst + i] * scale - shift[i / 2 % 2]);
      x[i + 1] = math::fast_exp2(s[kFirst + i + 1] * scale - shift[i / 2 % 2]);
      own[i / 2 % 2] += x[i] + x[i + 1];
    }
  }

  // What row e's weights are to be multiplied by to be relative to its maximum.
  TILE_DEVICE float below_maximum(int e, float scale) const {
    return kMostGrowth == 0 ? 1.f : math::fast_exp2(exponent_below_maximum(e, scale));
  }

  // The sum of each whole row.
  TILE_DEVICE void finish() {
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      sum[e] += __shfl_xor_sync(0xffffffffu, sum[e], 1);
      sum[e] += __shfl_xor_sync(0xffffffffu, sum[e], 2);
    }
  }

  TILE_DEVICE void finish_maxima() {
#pragma unroll
    for (int e = 0; e < 2 && kMostGrowth > 0; ++e) join_maximum(e);
  }

 private:
  template <int kCount>
  TILE_DEVICE void note_row(int e, const float (&s)[kCount]) {
    float most = maximum[e];
#pragma unroll
    for (int i = 0; i < kCount / 4; ++i)
      most = fmaxf(most, fmaxf(s[4 * i + 2 * e], s[4 * i + 2 * e + 1]));
    maximum[e] = most;
  }
  TILE_DEVICE void settle_row(int e, float& factor, float scale) {
    join_maximum(e);
    const float below = exponent_below_maximum(e, scale);
    const bool stays = kMostGrowth > 0 && below >= -kMostGrowth;
    factor = stays ? 1.f : math::fast_exp2(below);
    if (!stays) reference[e] = maximum[e];
  }
  TILE_DEVICE void join_maximum(int e) {
    maximum[e] = fmaxf(maximum[e], __shfl_xor_sync(0xffffffffu, maximum[e], 1));
    maximum[e] = fmaxf(maximum[e], __shfl_xor_sync(0xffffffffu, maximum[e], 2));
  }
  // The product is rounded as `shift` is, so that factors of blocks multiply to that of all.
  TILE_DEVICE float exponent_below_maximum(int e, float scale) const {
    return __fmul_rn(reference[e], scale) - shift_of(maximum[e], scale);
  }
  static TILE_DEVICE float shift_of(float maximum, float scale) {
    return maximum == -math::inf_f32() ? 0.f : maximum * scale;
  }
};

}  // namespace tile
