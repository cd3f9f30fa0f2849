#include <kasane/lattice/solve/resident_columns.hpp>

#include <kasane/core/device/buffer.hpp>
#include <kasane/core/device/stream_cuda.hpp>
#include <kasane/lattice/dirac/dirac.hpp>

#include <algorithm>
#include <array>

namespace kasane::lattice {
namespace {

using Number = std::complex<double>;

template <Space S>
void copy_all_to_rows(const std::vector<const ResidentField<S>*>& x, double factor, index_t first, View<Number> to) {
    const auto columns = static_cast<int>(x.size());
    for (int c = 0; c < columns; ++c) copy_to_rows(*x[static_cast<std::size_t>(c)], factor, c, columns, first, to);
}

}  // namespace

template <>
void each_part(const std::vector<const ResidentField<Cpu>*>& x, double factor, const TakeRows& take) {
    const auto& extents = x.front()->even.lattice()->extents();
    std::array<Buffer<Number, Cpu>, 2> parts;  // `take` may use the part before
    for (index_t first = 0, part = 0; first < extents.volume(); ++part) {
        const auto end = end_of_part(extents, static_cast<int>(x.size()), first);
        const index_t n = 12 * std::ssize(x) * (end - first);
        auto& rows = parts[static_cast<std::size_t>(part % 2)];
        rows.reserve_discarding(n);
        copy_all_to_rows(x, factor, first, {rows.data(), n});
        take(first, {rows.data(), n});
        first = end;
    }
}

#if defined(KASANE_CUDA)
template <>
void each_part(const std::vector<const ResidentField<Cuda>*>& x, double factor, const TakeRows& take) {
    const auto& lattice = *x.front()->even.lattice();
    const auto& extents = lattice.extents();
    const Cuda on = lattice.space();
    const auto end_of = [&](index_t first) { return end_of_part(extents, static_cast<int>(x.size()), first); };
    const auto numbers = [&](index_t first) { return 12 * std::ssize(x) * (end_of(first) - first); };
    struct Part {
        cuda::PinnedMemory rows;
        cuda::Event copied;
    };
    // While one part is taken, the part before may be in use and the next one is copied.
    std::array<Part, 3> parts{Part{{}, cuda::Event(on.device)}, Part{{}, cuda::Event(on.device)}, Part{{}, cuda::Event(on.device)}};
    for (auto& part : parts) part.rows.reserve_discarding(static_cast<std::size_t>(numbers(0)) * sizeof(Number));
    Buffer<Number, Cuda> there(on, numbers(0));
    const auto start = [&](index_t first, std::size_t which) {
        if (first >= extents.volume()) return;
        const index_t n = numbers(first);
        copy_all_to_rows(x, factor, first, {there.data(), n});
        cuda::start_copy_to_host(on, parts[which].rows.data(), there.data(), static_cast<std::size_t>(n) * sizeof(Number));
        parts[which].copied.record(on);
    };
    start(0, 0);
    std::size_t which = 0;
    for (index_t first = 0; first < extents.volume(); first = end_of(first), which = (which + 1) % 3) {
        start(end_of(first), (which + 1) % 3);
        parts[which].copied.wait();
        take(first, {reinterpret_cast<Number*>(parts[which].rows.data()), numbers(first)});
    }
}
#endif

}  // namespace kasane::lattice
