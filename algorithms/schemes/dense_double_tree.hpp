// dense_double_tree: NCCL's allreduce over two binary trees (Jeaugey, "Massively scale your deep
// learning training with NCCL 2.4", 2019; Sanders, Speck, Träff, Parallel Computing 35, 2009).
//
// Schedule: algorithms/collectives/double_tree.hpp. Each of two trees with different inner nodes
// sums one half of the gradient and sends the sum back down, in chunks.
// Cost: the sources promise 2 log P α for short gradients and 2nβ for long ones. A run, with C
// chunks per half, T = α + n/(2C) β, D = floor(log P) and b = min(P, 4), takes at least max(b C,
// S(C) + S(1)) T and at most (b (C-1) + 2 S(1) + D) T. S(1), 2 D or 2 D - 1, is the cost of a
// binary tree in this machine, where two children share a port; S(C) is about 2 (C-1) + 2 D. The
// upper end was found empirically, not proven. Only P = 1 is exact.
// Option `chunk_words`: with short chunks each costs α, with long ones the trees take long to fill;
// the best C is about sqrt(D n β / (2 α)).
// Restrictions: none. Memory: n words per rank; all ranks of the simulation share the result.
//
// Worked example: n = 8000, P = 7, chunk_words = 1000: C = 4, D = 2, S(1) = 4, S(4) = 10; between
// 16 T and 24 T, T = α + 1000 β, which is 2nβ plus up to 8 T to fill and drain the trees.
#pragma once

#include "algorithms/scheme.hpp"

namespace thinwire::algorithms {

[[nodiscard]] SchemeInfo dense_double_tree_scheme();

}  // namespace thinwire::algorithms
