// Connected components of a matrix's graph, on a device.
#pragma once

#include <kasane/core/device/buffer.hpp>
#include <kasane/sparse/matrix/csr.hpp>

namespace kasane::sparse::device {

/// [rows] the first row of the component of each row.   @param A  on the device, columns ascending, pattern symmetric
Buffer<std::int32_t, Cuda> first_of_component(Cuda on, const CsrView& A);

}  // namespace kasane::sparse::device
