// The common part of the predictions of direct summation and of trees: the request, the device and the channel between workers.
#pragma once

#include <kasane/gravity/performance/step_time.hpp>
#include <kasane/run/gravity/predict.hpp>

#include <string>

namespace kasane::run {

/// Name of a device in calibrations: with the threads of a CPU.
std::string device_of(const AnySpace& on);
/// A CPU's name without its threads.
std::string processor(const std::string& device);

/// @throws InputError: no worker, or more than a prediction takes
void check_request(const PredictionRequest& request);

struct FoundLink {
    gravity::LinkTime time;
    double factor = 1;  ///< latency and bandwidth may be wrong by this factor
    std::string doubt;
};
/// The channel between this number of workers, or the nearest number that was measured; with one worker none.
/// @throws InputError: none was measured (with the command to run)
FoundLink find_channel(const Calibration& calibration, const std::string& device, const PredictionRequest& request);

}  // namespace kasane::run
