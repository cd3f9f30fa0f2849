// A figure of the timeline of each worker: messages in one lane, kernels in as many lanes as run at the same time (streams).
#pragma once

#include <kasane/core/device/timeline.hpp>

#include <string>
#include <vector>

namespace kasane::bench {

/// Draws an <svg> of the first eight workers and a legend of the colours; empty without spans.
std::string timeline_picture(const std::string& title, const std::vector<std::vector<Span>>& workers);

}  // namespace kasane::bench
