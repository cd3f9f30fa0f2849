// Fields of the whole lattice on the root rank to and from the local lattices of all workers. Collective over the ranks.
#pragma once

#include <kasane/core/comm/worker.hpp>
#include <kasane/lattice/distributed/local_part.hpp>

#include <utility>
#include <vector>

namespace kasane::lattice {

inline std::vector<Su3<double>>& values_of(GaugeField& field) { return field.links; }
inline std::vector<std::complex<double>>& values_of(SpinorField& field) { return field.values; }

namespace detail {
constexpr int field_tag = 8002;  // tag of messages with fields between the root rank and the others

template <class Field>
void send_field(comm::Communicator& ranks, Field& from, int to) {
    const auto& values = values_of(from);
    ranks.send(values.data(), values.size() * sizeof values[0], to, field_tag);
}
template <class Field>
void receive_field(comm::Communicator& ranks, Field& to, int from) {
    auto& values = values_of(to);
    ranks.receive(values.data(), values.size() * sizeof values[0], from, field_tag);
}
}  // namespace detail

/// The parts of this rank's workers; the root rank sends the others theirs, one part in memory at a time.
/// @param all  of the whole lattice on the root rank; not read on the others
template <class Field>
std::vector<Field> scatter(comm::WorkerCommunicator& communicator, const RankGrid& grid, const Field& all) {
    auto& ranks = communicator.ranks();
    const int local = communicator.workers_per_rank();
    std::vector<Field> parts;
    for (int l = 0; l < local; ++l) {
        if (ranks.rank() == 0) {
            parts.push_back(local_part(grid, l, all));
        } else {
            parts.emplace_back(grid.local());
            detail::receive_field(ranks, parts.back(), 0);
        }
    }
    if (ranks.rank() == 0)
        for (int worker = local; worker < communicator.size(); ++worker) {
            auto part = local_part(grid, worker, all);
            detail::send_field(ranks, part, worker / local);
        }
    return parts;
}

/// Collects the parts of all workers on the root rank. @param all  of the whole lattice on the root rank; not written on the others
template <class Field>
void gather(comm::WorkerCommunicator& communicator, const RankGrid& grid, std::vector<Field>& parts, Field& all) {
    auto& ranks = communicator.ranks();
    const int local = communicator.workers_per_rank();
    if (ranks.rank() != 0) {
        for (auto& part : parts) detail::send_field(ranks, part, 0);
        return;
    }
    for (int worker = 0; worker < communicator.size(); ++worker) {
        auto& part = parts[static_cast<std::size_t>(worker % local)];
        if (worker >= local) detail::receive_field(ranks, part, worker / local);
        set_local_part(grid, worker, part, all);
    }
}

}  // namespace kasane::lattice
