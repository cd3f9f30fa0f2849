// Labels of the rows of gravity.direct.scaling, and the efficiencies that follow from its times. The benchmark and the page use them.
// Labels: "both-sides, P 1" (one worker, no messages); "both-sides, copy, P 4" (with the engine of the messages); "sync, P 4" (table 2);
// "link, copy, P 4" (speed of messages); "model, both-sides" (costs of the kernels).
#pragma once

#include <kasane/core/base/types.hpp>

#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace kasane::bench {

inline constexpr const char* scaling_study = "gravity.direct.scaling";
inline constexpr const char* message_span = "message";  ///< name of the spans of messages in a timeline; other spans are kernels

/// The numbers 1, 2, 4, … below `most`, and `most`.
std::vector<int> doublings_up_to(int most);

/// Seconds of one call by (workers, N); NaN if a time is not known.
class ScalingTimes {
   public:
    void set(int workers, index_t n, double seconds) { seconds_[{workers, n}] = seconds; }
    double of(int workers, index_t n) const {
        const auto at = seconds_.find({workers, n});
        return at == seconds_.end() ? std::numeric_limits<double>::quiet_NaN() : at->second;
    }
    /// P(N; P) / (P(N; 1) P) with the performance P(N; P) = N^2 / seconds ([MTM13] fig. 9).
    double strong(int workers, index_t n) const;
    /// P(N; P) / (P(N/P; 1) P) (fig. 10); NaN where P does not divide N.
    double weak(int workers, index_t n) const;

   private:
    std::map<std::pair<int, index_t>, double> seconds_;
};

/// Sizes N to measure for each number of workers. For one worker they include all sizes that the efficiencies compare with.
/// @param wanted    requested sizes N; empty: N/P = least, 2 least, … most for every P
std::map<int, std::vector<index_t>> scaling_sizes(const std::vector<int>& workers, const std::vector<index_t>& wanted, index_t least,
                                                  index_t most);

}  // namespace kasane::bench
