// thinned_topk: a random k of the entries of largest magnitude, which are `times` as many. An
// example of a sparsifier that is not Thinwire's.
//
// Exact top-k tends to send the same coordinates in each iteration, and the others wait for a long
// time. Here each of the times·k largest entries is sent in one of `times` iterations, on average.
//
// Work: a selection of the times·k largest of n components, and as many random numbers. Every rank
// selects k entries, or all that are not zero where these are fewer.
//
// Worked example: k = 2, times = 2, accumulator 9 -8 0 7 1 -6. The four largest are 9 -8 7 -6, and
// two of them are sent: any two, each pair with probability 1/6.
#pragma once

#include <thinwire/sparsifier.hpp>

[[nodiscard]] thinwire::algorithms::SparsifierInfo thinned_topk_sparsifier();
