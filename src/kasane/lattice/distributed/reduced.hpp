// Sums over one worker's part, reduced over all workers of a grid. Collective.
// Invariant: one reduction for any number of results; all workers get the same bits.
#pragma once

#include <kasane/core/comm/worker.hpp>

#include <complex>
#include <utility>
#include <vector>

namespace kasane::lattice {

/// Returns the sums of all workers. @param here  sums of this worker, as many on every worker
inline std::vector<double> reduced(comm::Worker& worker, std::vector<double> here) {
    if (!here.empty()) worker.all_reduce({here.data(), std::ssize(here)}, comm::Reduce::sum);
    return here;
}

/// Does the same for complex sums.
template <class T>
std::vector<std::complex<T>> reduced(comm::Worker& worker, const std::vector<std::complex<T>>& here) {
    std::vector<double> numbers;
    for (const auto& z : here) numbers.insert(numbers.end(), {static_cast<double>(z.real()), static_cast<double>(z.imag())});
    numbers = reduced(worker, std::move(numbers));
    std::vector<std::complex<T>> all;
    for (std::size_t i = 0; i < here.size(); ++i) all.emplace_back(static_cast<T>(numbers[2 * i]), static_cast<T>(numbers[2 * i + 1]));
    return all;
}

/// Does the same for pairs of an inner product and a squared norm.
inline std::vector<std::pair<std::complex<double>, double>> reduced(comm::Worker& worker,
                                                                    const std::vector<std::pair<std::complex<double>, double>>& here) {
    std::vector<double> numbers;
    for (const auto& [product, norm2] : here) numbers.insert(numbers.end(), {product.real(), product.imag(), norm2});
    numbers = reduced(worker, std::move(numbers));
    std::vector<std::pair<std::complex<double>, double>> all;
    for (std::size_t i = 0; i < numbers.size(); i += 3) all.push_back({{numbers[i], numbers[i + 1]}, numbers[i + 2]});
    return all;
}

}  // namespace kasane::lattice
