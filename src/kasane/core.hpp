// Parts that every module uses: spaces (the CPU, a CUDA device), memory on them, errors, log and progress.
#pragma once

#include <kasane/core/base/error.hpp>
#include <kasane/core/base/log.hpp>
#include <kasane/core/base/progress.hpp>
#include <kasane/core/base/types.hpp>
#include <kasane/core/device/buffer.hpp>
#include <kasane/core/device/device_pointer.hpp>
#include <kasane/core/device/space.hpp>

/// Spaces, memory, errors, log, progress; the subjects have namespaces of their own.
namespace kasane {}

/// Messages of the library: set_terminal_level() and FileSink decide where they go.
namespace kasane::log {}
