// Functions of a device on a matrix in its own memory: its check, and its cm-rcm ordering.
#pragma once

#include <kasane/sparse/matrix/csr.hpp>
#include <kasane/sparse/order/space_order.hpp>

#include <optional>
#include <string>

#if defined(KASANE_CUDA)
namespace kasane::sparse {

/// check() of csr.hpp for a matrix in the memory of that device. @throws InputError as check() does
MatrixFacts check_on_device(Cuda on, const CsrView& A, ComponentsOf components_of = ComponentsOf::all);

/// cm-rcm:K with the colours and the order of order_rows(). Nothing where only the host supports the graph (rows that are coupled to their
/// own level). @param note  as ColoredOrder::note
std::optional<SpaceOrder<Cuda>> cm_rcm_on_device(Cuda on, const CsrView& A, int k, std::string& note);

}  // namespace kasane::sparse
#endif
