#include <kasane/sparse/distributed/row_division.hpp>

#include <kasane/core/base/error.hpp>
#include <kasane/sparse/order/ordering.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace kasane::sparse {
namespace {

std::vector<std::int32_t> positions(const std::vector<std::int32_t>& order) {
    std::vector<std::int32_t> position(order.size());
    for (std::size_t p = 0; p < order.size(); ++p) position[at(order[p])] = static_cast<std::int32_t>(p);
    return position;
}

/// The owner of the row at each position.
std::vector<std::int32_t> owner_of_positions(const RowOwners& owners) {
    std::vector<std::int32_t> owner(owners.order.size());
    for (int w = 0; w < owners.workers(); ++w) std::fill(owner.begin() + owners.begin[at(w)], owner.begin() + owners.begin[at(w) + 1], w);
    return owner;
}

RowOwners owners_in_order(const CsrView& A, int workers, std::vector<std::int32_t> order, std::string ordering) {
    constexpr double of_vectors = 8;  // an iteration moves about as much for a row's numbers as for so many entries
    RowOwners owners{std::move(order), {0}, std::move(ordering)};
    const double all = static_cast<double>(A.begin(A.n)) + of_vectors * static_cast<double>(A.n);
    double sum = 0;
    for (index_t p = 0; p < A.n; ++p) {
        const int filled = static_cast<int>(owners.begin.size());  // workers whose first row is known
        const bool enough = sum >= all * filled / workers && p > owners.begin.back(), last = A.n - p == workers - filled;
        if (filled < workers && (enough || last)) owners.begin.push_back(p);
        const index_t row = owners.order[at(p)];
        sum += static_cast<double>(A.end(row) - A.begin(row)) + of_vectors;
    }
    owners.begin.push_back(A.n);

    const auto position = positions(owners.order), owner = owner_of_positions(owners);
    index_t cut = 0;
    for (index_t row = 0; row < A.n; ++row) {
        const auto mine = owner[at(position[at(row)])];
        for (index_t e = A.begin(row); e < A.end(row); ++e) cut += owner[at(position[at(A.column(e))])] != mine;
    }
    owners.cut = A.begin(A.n) > 0 ? static_cast<double>(cut) / static_cast<double>(A.begin(A.n)) : 0;
    return owners;
}

/// A matrix before it has values.
struct PartPattern {
    std::vector<index_t> begin;
    std::vector<std::int32_t> column;
    std::vector<index_t> entry;  // of A

    template <class User>
    MatrixOf<User> with(const User* values) && {
        MatrixOf<User> matrix{std::move(begin), std::move(column), {}};
        matrix.value.reserve(entry.size());
        for (const auto e : entry) matrix.value.push_back(values[e]);
        return matrix;
    }
};
/// The matrices of a RowPart.
struct PartPatterns {
    PartPattern inner, outer, extended;
    std::vector<std::int32_t> outer_row;
};

/// Rows of other workers that a worker reads: by distance of their owner, then by position.
struct ReadRows {
    std::vector<std::int32_t> position;
    std::vector<std::int32_t> distance;  // of each
};

/// What the division of one matrix needs for every worker.
class Division {
   public:
    Division(const CsrView& A, const RowOwners& owners)
        : A_(A),
          owners_(owners),
          position_(positions(owners.order)),
          owner_(owner_of_positions(owners)),
          seen_by_(at(A.n), -1),
          number_(at(A.n), 0) {}

   private:
    template <class F>
    void each_coupled(std::int32_t p, const F& f) const {
        const index_t row = owners_.order[at(p)];
        for (index_t e = A_.begin(row); e < A_.end(row); ++e) f(position_[at(A_.column(e))]);
    }
    std::int32_t distance(int worker, std::int32_t p) const {
        const int workers = owners_.workers();
        return (worker - owner_[at(p)] + workers) % workers;
    }
    /// The index of each of these positions, and -1 of all other ones; valid until the next call.
    auto numbers_of(const std::vector<std::int32_t>& positions) {
        ++stamp_;
        for (std::size_t k = 0; k < positions.size(); ++k) {
            seen_by_[at(positions[k])] = stamp_;
            number_[at(positions[k])] = static_cast<std::int32_t>(k);
        }
        return [this, stamp = stamp_](std::int32_t p) { return seen_by_[at(p)] == stamp ? number_[at(p)] : -1; };
    }

   public:
    /// The rows that at most `layers` couplings lead to from own rows.
    ReadRows reached(int worker, int layers) {
        const auto first = owners_.begin[at(worker)], last = owners_.begin[at(worker) + 1];
        ++stamp_;
        std::vector<std::int32_t> found, frontier(at(last - first));
        std::iota(frontier.begin(), frontier.end(), static_cast<std::int32_t>(first));
        for (int layer = 0; layer < layers && !frontier.empty(); ++layer) {
            std::vector<std::int32_t> next;
            for (const auto p : frontier)
                each_coupled(p, [&](std::int32_t other) {
                    if (owner_[at(other)] == worker || seen_by_[at(other)] == stamp_) return;
                    seen_by_[at(other)] = stamp_;
                    next.push_back(other);
                });
            found.insert(found.end(), next.begin(), next.end());
            frontier = std::move(next);
        }
        std::ranges::sort(
            found, [&](std::int32_t a, std::int32_t b) { return std::pair{distance(worker, a), a} < std::pair{distance(worker, b), b}; });
        ReadRows rows{std::move(found), {}};
        for (const auto p : rows.position) rows.distance.push_back(distance(worker, p));
        return rows;
    }

    /// Of some rows in new numbers. @param positions  of its rows   @param number  new column of a position; < 0: left out
    template <class Number>
    PartPattern pattern(const std::vector<std::int32_t>& positions, const Number& number) const {
        PartPattern part;
        part.begin.assign(1, 0);
        std::vector<std::pair<std::int32_t, index_t>> row;
        for (const auto p : positions) {
            row.clear();
            const index_t i = owners_.order[at(p)];
            for (index_t e = A_.begin(i); e < A_.end(i); ++e)
                if (const std::int32_t column = number(position_[at(A_.column(e))]); column >= 0) row.emplace_back(column, e);
            std::ranges::sort(row, {}, &std::pair<std::int32_t, index_t>::first);
            for (const auto& [column, entry] : row) part.column.push_back(column), part.entry.push_back(entry);
            part.begin.push_back(static_cast<index_t>(part.column.size()));
        }
        return part;
    }

    /// Positions of the rows of a worker.
    std::vector<std::int32_t> own_positions(int worker) const {
        std::vector<std::int32_t> own(at(owners_.begin[at(worker) + 1] - owners_.begin[at(worker)]));
        std::iota(own.begin(), own.end(), static_cast<std::int32_t>(owners_.begin[at(worker)]));
        return own;
    }

    /// Of a part. @param read  its neighbours   @param overlap  other rows of its subdomain; null: no overlap
    PartPatterns patterns(int worker, const ReadRows& read, const ReadRows* overlap) {
        PartPatterns part;
        const auto first = owners_.begin[at(worker)], own = owners_.begin[at(worker) + 1] - first;
        const auto own_rows = own_positions(worker);
        const auto own_number = [&](std::int32_t p) { return owner_[at(p)] == worker ? static_cast<std::int32_t>(p - first) : -1; };
        part.inner = pattern(own_rows, own_number);

        const auto received = numbers_of(read.position);
        const auto outer_number = [&](std::int32_t p) { return owner_[at(p)] == worker ? -1 : received(p); };
        std::vector<std::int32_t> rows;
        for (const auto p : own_rows) {
            bool coupled = false;
            each_coupled(p, [&](std::int32_t other) { coupled = coupled || owner_[at(other)] != worker; });
            if (coupled) rows.push_back(p), part.outer_row.push_back(static_cast<std::int32_t>(p - first));
        }
        part.outer = pattern(rows, outer_number);

        if (overlap == nullptr) return part;
        auto all = own_rows;
        all.insert(all.end(), overlap->position.begin(), overlap->position.end());
        const auto of_others = numbers_of(overlap->position);
        part.extended = pattern(all, [&](std::int32_t p) {
            if (owner_[at(p)] == worker) return own_number(p);
            const auto number = of_others(p);
            return number < 0 ? -1 : static_cast<std::int32_t>(own + number);
        });
        return part;
    }

   private:
    CsrView A_;
    const RowOwners& owners_;
    std::vector<std::int32_t> position_, owner_;
    std::vector<int> seen_by_;  // the search or list that a position was met in last
    std::vector<std::int32_t> number_;
    int stamp_ = 0;
};

/// The exchanges of all workers from the rows that each one reads.
std::vector<RowExchange> exchanges(const RowOwners& owners, const std::vector<ReadRows>& read) {
    const int workers = owners.workers();
    std::vector<char> used(at(workers), 0);
    for (const auto& rows : read)
        for (const auto distance : rows.distance) used[at(distance)] = 1;
    std::vector<std::int32_t> distances;
    for (int k = 1; k < workers; ++k)
        if (used[at(k)]) distances.push_back(k);

    std::vector<RowExchange> all(at(workers));
    for (int w = 0; w < workers; ++w) {
        auto& mine = all[at(w)];
        mine.distance = distances;
        mine.send_begin = mine.receive_begin = {0};
        for (const auto k : distances) {
            const auto end = std::ranges::upper_bound(read[at(w)].distance, k) - read[at(w)].distance.begin();
            mine.receive_begin.push_back(end);
            const auto& reader = read[at((w + k) % workers)];
            const auto [begin_of, end_of] = std::ranges::equal_range(reader.distance, k);
            for (auto d = begin_of; d < end_of; ++d)
                mine.sent.push_back(static_cast<std::int32_t>(reader.position[at(d - reader.distance.begin())] - owners.begin[at(w)]));
            mine.send_begin.push_back(static_cast<std::int64_t>(mine.sent.size()));
        }
    }
    return all;
}

}  // namespace

RowOwners owners_of_rows(const CsrView& A, int workers, bool symmetric) {
    KS_REQUIRE(workers >= 1 && A.n >= workers, "every worker needs a row");
    std::vector<std::int32_t> natural(at(A.n));
    std::iota(natural.begin(), natural.end(), 0);
    auto owners = owners_in_order(A, workers, std::move(natural), "natural");
    if (workers == 1 || !symmetric) return owners;
    auto levels = order_rows(A, {OrderingKind::reverse_cuthill_mckee, 0, 0});
    auto other = owners_in_order(A, workers, std::move(levels.row), "rcm");
    return other.cut < owners.cut ? other : owners;
}

template <class User>
std::vector<RowPartOf<User>> divide_rows(const CsrView& A, const User* values, const RowOwners& owners, int overlap) {
    const int workers = owners.workers();
    Division division(A, owners);
    std::vector<ReadRows> read, more;
    for (int w = 0; w < workers; ++w) {
        read.push_back(division.reached(w, 1));
        if (overlap > 0) more.push_back(division.reached(w, overlap));
    }
    auto neighbors = exchanges(owners, read);
    auto overlaps = overlap > 0 ? exchanges(owners, more) : std::vector<RowExchange>(at(workers));
    std::vector<RowPartOf<User>> parts(at(workers));
    for (int w = 0; w < workers; ++w) {
        auto& part = parts[at(w)];
        const auto first = owners.order.begin() + owners.begin[at(w)], last = owners.order.begin() + owners.begin[at(w) + 1];
        part.row.assign(first, last);
        part.neighbors = std::move(neighbors[at(w)]);
        part.overlap = std::move(overlaps[at(w)]);
        auto patterns = division.patterns(w, read[at(w)], overlap > 0 ? &more[at(w)] : nullptr);
        part.outer_row = std::move(patterns.outer_row);
        part.inner = std::move(patterns.inner).with(values);
        part.outer = std::move(patterns.outer).with(values);
        part.extended = std::move(patterns.extended).with(values);
    }
    return parts;
}

template std::vector<RowPart> divide_rows(const CsrView&, const double*, const RowOwners&, int);
template std::vector<RowPartOf<std::complex<double>>> divide_rows(const CsrView&, const std::complex<double>*, const RowOwners&, int);

}  // namespace kasane::sparse
