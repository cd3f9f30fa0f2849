// Predicts a run of the tree code from its run file and from two small systems of the same model, which are computed for a few longest
// steps on this machine (gravity/performance/tree_model.hpp).
#pragma once

#include <kasane/gravity/performance/tree_model.hpp>
#include <kasane/run/gravity/predict.hpp>

namespace kasane::run {

/// @param calibration  for the messages between workers; not read with one worker
/// @throws InputError: direct summation, another device than this machine's, or no measured channel (with the command to run)
Prediction predict_tree(const GravityFile& file, const Calibration& calibration, const PredictionRequest& request);

}  // namespace kasane::run
