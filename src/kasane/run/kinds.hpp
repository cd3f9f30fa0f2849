// The kinds of run that kasane offers. No other file lists them.
#pragma once

#include <kasane/run/driver/kind.hpp>

namespace kasane::run {

const Kinds& kinds();

}  // namespace kasane::run
