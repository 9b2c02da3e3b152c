#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tilejit/program.hpp"

namespace tilejit::program {

/// How a value is spelled in TL text and in JSON.
template <typename Value>
struct Word {
  Value value;
  std::string_view text;
};

inline constexpr Word<TileSpace> kSpaces[] = {{TileSpace::global, "global"},
                                              {TileSpace::shared, "shared"},
                                              {TileSpace::registers, "register"}};
inline constexpr Word<TilePad> kPads[] = {
    {TilePad::none, "none"},      {TilePad::zero, "zero"}, {TilePad::neg_zero, "neg_zero"},
    {TilePad::one, "one"},        {TilePad::nan, "nan"},   {TilePad::pos_inf, "pos_inf"},
    {TilePad::neg_inf, "neg_inf"}};
inline constexpr Word<TileReduce::Kind> kReductions[] = {
    {TileReduce::Kind::sum, "sum"},       {TileReduce::Kind::prod, "prod"},
    {TileReduce::Kind::max, "max"},       {TileReduce::Kind::min, "min"},
    {TileReduce::Kind::mean, "mean"},     {TileReduce::Kind::argmax, "argmax"},
    {TileReduce::Kind::argmin, "argmin"}, {TileReduce::Kind::any, "any"},
    {TileReduce::Kind::all, "all"}};
inline constexpr Word<TileScan::Kind> kScans[] = {{TileScan::Kind::sum, "sum"},
                                                  {TileScan::Kind::prod, "prod"},
                                                  {TileScan::Kind::max, "max"},
                                                  {TileScan::Kind::min, "min"}};
inline constexpr Word<TileAtomic::Kind> kAtomics[] = {
    {TileAtomic::Kind::add, "add"},      {TileAtomic::Kind::max, "max"},
    {TileAtomic::Kind::min, "min"},      {TileAtomic::Kind::bit_and, "and"},
    {TileAtomic::Kind::bit_or, "or"},    {TileAtomic::Kind::bit_xor, "xor"},
    {TileAtomic::Kind::exchange, "xchg"}};
/// After `Compute`, as in "Compute ReduceMax S axis 1 and get m".
inline constexpr Word<TileReduce::Kind> kReduceStatements[] = {
    {TileReduce::Kind::sum, "ReduceSum"},       {TileReduce::Kind::prod, "ReduceProd"},
    {TileReduce::Kind::max, "ReduceMax"},       {TileReduce::Kind::min, "ReduceMin"},
    {TileReduce::Kind::mean, "ReduceMean"},     {TileReduce::Kind::argmax, "ReduceArgmax"},
    {TileReduce::Kind::argmin, "ReduceArgmin"}, {TileReduce::Kind::any, "ReduceAny"},
    {TileReduce::Kind::all, "ReduceAll"}};
inline constexpr Word<TileScan::Kind> kScanStatements[] = {{TileScan::Kind::sum, "ScanSum"},
                                                           {TileScan::Kind::prod, "ScanProd"},
                                                           {TileScan::Kind::max, "ScanMax"},
                                                           {TileScan::Kind::min, "ScanMin"}};

template <typename Value, std::size_t n>
[[nodiscard]] constexpr std::string_view text_of(const Word<Value> (&words)[n], Value value) {
  for (const Word<Value>& word : words) {
    if (word.value == value) return word.text;
  }
  return {};
}

template <typename Value, std::size_t n>
[[nodiscard]] constexpr std::optional<Value> find_word(const Word<Value> (&words)[n],
                                                       std::string_view text) {
  for (const Word<Value>& word : words) {
    if (word.text == text) return word.value;
  }
  return std::nullopt;
}

/// "global, shared or register".
template <typename Value, std::size_t n>
[[nodiscard]] std::string list_of(const Word<Value> (&words)[n]) {
  std::string text;
  for (std::size_t i = 0; i < n; ++i) {
    text += (i == 0 ? "" : i + 1 == n ? " or " : ", ") + std::string(words[i].text);
  }
  return text;
}

}  // namespace tilejit::program
