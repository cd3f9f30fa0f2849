// Right-hand sides and solutions that stay on a space: sources are made there, and solutions leave it in the order of files.
#pragma once

#include <kasane/lattice/observe/sources.hpp>
#include <kasane/lattice/solution_rows.hpp>
#include <kasane/lattice/solve/resident_field.hpp>

#include <vector>

namespace kasane::lattice {

/// b = column c of a source.
template <Space S>
void fill(const PropagatorSource& source, int c, ResidentField<S>& b);

/// Copies one column into the rows of sites, times a factor.
/// @param to  [sites][12][columns] in memory of the space, of the sites from `first` on
template <Space S>
void copy_to_rows(const ResidentField<S>& x, double factor, int column, int columns, index_t first, View<std::complex<double>> to);

/// Passes the rows of all columns to `take`; on a device the next part is copied meanwhile.
template <Space S>
void each_part(const std::vector<const ResidentField<S>*>& x, double factor, const TakeRows& take);

}  // namespace kasane::lattice
