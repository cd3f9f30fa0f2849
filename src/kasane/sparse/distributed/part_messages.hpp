// Parts of a matrix and of vectors from the root rank to the ranks of their workers, and back.
#pragma once

#include <kasane/core/comm/communicator.hpp>
#include <kasane/sparse/distributed/row_division.hpp>

#include <cstdint>
#include <vector>

namespace kasane::sparse {

constexpr int part_tag = 4003;  // of messages between the root rank and the others

template <class T>
void send_array(comm::Communicator& ranks, const std::vector<T>& array, int to) {
    const auto size = static_cast<std::uint64_t>(array.size());
    ranks.send(&size, sizeof size, to, part_tag);
    ranks.send(array.data(), array.size() * sizeof(T), to, part_tag);
}
template <class T>
void receive_array(comm::Communicator& ranks, std::vector<T>& array, int from) {
    std::uint64_t size = 0;
    ranks.receive(&size, sizeof size, from, part_tag);
    array.resize(size);
    ranks.receive(array.data(), array.size() * sizeof(T), from, part_tag);
}

/// visit(array) for all arrays of a part.
template <class Part, class Visit>
void each_array(Part& part, const Visit& visit) {
    visit(part.row);
    visit(part.outer_row);
    for (auto* exchange : {&part.neighbors, &part.overlap}) {
        visit(exchange->distance);
        visit(exchange->send_begin);
        visit(exchange->receive_begin);
        visit(exchange->sent);
    }
    for (auto* matrix : {&part.inner, &part.outer, &part.extended}) {
        visit(matrix->begin);
        visit(matrix->column);
        visit(matrix->value);
    }
}

}  // namespace kasane::sparse
