// A picture of what each worker did when: its messages in a lane of their own, its kernels in as many lanes as ran at once (streams).
#pragma once

#include <kasane/core/device/timeline.hpp>

#include <string>
#include <vector>

namespace kasane::bench {

/// An <svg> and the legend of its colours; empty when there is no span. The first eight workers are drawn.
std::string timeline_picture(const std::string& title, const std::vector<std::vector<Span>>& workers);

}  // namespace kasane::bench
