// Solutions in the order of files (file/solution_file.hpp): a row holds the numbers of one site, [spin 4][colour 3][columns], sites in
// lexicographic order. They are passed on in parts, so that no memory holds all of them a second time.
#pragma once

#include <kasane/lattice/spinor_field.hpp>

#include <complex>
#include <functional>
#include <vector>

namespace kasane::lattice {

/// Receives the rows of consecutive sites. The receiver may change the rows. They stay valid until its next call has returned; those of the
/// last part until this call returns. @param first  the first site (lexicographic)   @param rows  [sites][4][3][columns]
using TakeRows = std::function<void(index_t first, View<std::complex<double>> rows)>;
/// Calls `take` for every part of the lattice in the order of sites.
using SolutionRows = std::function<void(const TakeRows& take)>;

/// Returns the site after the part that begins with the site `first`. A part consists of whole time slices, or of x-y planes of one slice;
/// it has at least one plane and otherwise at most 16 MiB.
index_t end_of_part(const Extents& extents, int columns, index_t first);

/// Returns the rows of fields of the host times a factor. @param columns  all of one lattice; must outlive the result
SolutionRows rows_of(const std::vector<SpinorField>& columns, double factor);

}  // namespace kasane::lattice
