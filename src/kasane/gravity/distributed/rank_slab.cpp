#include <kasane/core/base/error.hpp>
#include <kasane/core/device/holds_for_all.hpp>
#include <kasane/core/device/sum.hpp>
#include <kasane/gravity/direct/sampled_frame.hpp>
#include <kasane/gravity/distributed/agreement.hpp>
#include <kasane/gravity/distributed/rank_slab.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <sys/resource.h>

namespace kasane::gravity {
namespace {

constexpr int count_tag = 8002, record_tag = 8003, row_tag = 8004;

/// A particle on its way from a worker to the rank of its slab.
struct StateRecord {
    Vec3<double> position, velocity;
    Vec3<float> acceleration;
    std::uint32_t number;
};

/// The array of a column, with n values.
void* resized(RankSlab& slab, Column column, std::size_t n) {
    const auto values = [&](auto& array) -> void* {
        array.resize(n);
        return array.data();
    };
    auto& own = slab.own;
    switch (column) {
        case Column::position: return values(own.position);
        case Column::velocity: return values(own.velocity);
        case Column::mass: return values(own.mass);
        case Column::id: return values(own.id);
        case Column::type: return values(own.type);
        case Column::softening: return values(own.softening);
        default: return values(slab.acceleration);
    }
}

bool finite(const Vec3<double>& v) { return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z); }

}  // namespace

index_t SlabFacts::total() const {
    std::uint64_t n = 0;
    for (const auto each : count) n += each;
    return static_cast<index_t>(n);
}

double SlabFacts::largest_mass() const {
    double most = 0;
    for (std::size_t t = 0; t < type_count; ++t)
        if (count[t] > 0) most = std::max(most, most_mass[t]);
    return most;
}

bool SlabFacts::equal_masses() const {
    const double mass = largest_mass();
    for (std::size_t t = 0; t < type_count; ++t)
        if (count[t] > 0 && (least_mass[t] != mass || most_mass[t] != mass)) return false;
    return true;
}

double SlabFacts::common_mass(std::size_t type) const {
    return count[type] > 0 && least_mass[type] == most_mass[type] ? least_mass[type] : 0;
}

double SlabFacts::common_softening(std::size_t type) const {
    return softenings && count[type] > 0 && least_softening[type] == most_softening[type] ? least_softening[type] : 0;
}

std::optional<std::pair<double, double>> SlabFacts::softening() const {
    if (!softenings) return {};
    std::pair range{std::numeric_limits<double>::infinity(), 0.0};
    for (std::size_t t = 0; t < type_count; ++t) {
        if (count[t] == 0) continue;
        range.first = std::min(range.first, least_softening[t]);
        range.second = std::max(range.second, most_softening[t]);
    }
    return range;
}

std::size_t bytes_of(Column column) {
    switch (column) {
        case Column::position:
        case Column::velocity: return sizeof(Vec3<double>);
        case Column::acceleration: return sizeof(Vec3<float>);
        case Column::id: return sizeof(std::uint64_t);
        case Column::type: return sizeof(std::uint8_t);
        default: return sizeof(double);
    }
}

RankSlab scatter(comm::Communicator& ranks, const std::vector<index_t>& bounds, const std::vector<Column>& columns,
                 const std::function<const void*(Column column, index_t first, index_t n)>& read) {
    const int me = ranks.rank();
    const auto begin_of = [&](int r) { return bounds[static_cast<std::size_t>(r)]; };
    RankSlab slab;
    slab.first = begin_of(me);
    for (const auto column : columns) {
        const auto width = bytes_of(column);
        auto* own = static_cast<char*>(resized(slab, column, static_cast<std::size_t>(begin_of(me + 1) - slab.first)));
        for (index_t at = 0; at < bounds.back(); at += rows_at_once) {
            const index_t n = std::min(rows_at_once, bounds.back() - at);
            const auto* rows = me == 0 ? static_cast<const char*>(read(column, at, n)) : nullptr;
            for (int r = 0; r < ranks.size(); ++r) {
                const index_t from = std::max(at, begin_of(r)), to = std::min(at + n, begin_of(r + 1));
                if (from >= to || (me != 0 && me != r)) continue;
                const auto bytes = static_cast<std::size_t>(to - from) * width,
                           in_slab = static_cast<std::size_t>(from - begin_of(r)) * width;
                if (me != 0)
                    ranks.receive(own + in_slab, bytes, 0, row_tag);
                else if (r == 0)
                    std::memcpy(own + in_slab, rows + static_cast<std::size_t>(from - at) * width, bytes);
                else
                    ranks.send(rows + static_cast<std::size_t>(from - at) * width, bytes, r, row_tag);
            }
        }
    }
    return slab;
}

RankSlabs::RankSlabs(comm::Communicator& ranks, RankSlab slab) : ranks_(ranks), slab_(std::move(slab)) {
    std::vector<std::uint64_t> counts(static_cast<std::size_t>(ranks.size()));
    counts[static_cast<std::size_t>(ranks.rank())] = static_cast<std::uint64_t>(slab_.own.size());
    ranks.all_reduce(view(counts), comm::Reduce::sum);
    bounds_.push_back(0);
    for (const auto n : counts) bounds_.push_back(bounds_.back() + static_cast<index_t>(n));
    KS_EXPECT(slab_.first == bounds_[static_cast<std::size_t>(ranks.rank())]);
    agree(ranks, problem_of([&] {
              if (slab_.own.size() > 0) validate(slab_.own, "the simulation's initial state");
              KS_VALIDATE(total() > 0, "the simulation's initial state holds no particles: at least one is needed");
              KS_VALIDATE(slab_.acceleration.empty() || std::ssize(slab_.acceleration) == slab_.own.size(),
                          "the saved accelerations belong to other particles");
          }));
    find_facts();
}

void RankSlabs::find_facts() {
    const auto& own = slab_.own;
    constexpr double none = std::numeric_limits<double>::infinity();
    auto& f = facts_;
    std::array<std::uint64_t, type_count + 2> counts{};
    std::vector<double> least(2 * type_count, none), most(2 * type_count, -none);
    for (std::size_t i = 0; i < own.mass.size(); ++i) {
        const auto t = own.type[i];
        ++counts[t];
        least[t] = std::min(least[t], own.mass[i]);
        most[t] = std::max(most[t], own.mass[i]);
        if (own.softening.empty()) continue;
        least[type_count + t] = std::min(least[type_count + t], own.softening[i]);
        most[type_count + t] = std::max(most[type_count + t], own.softening[i]);
    }
    counts[type_count] = own.softening.empty() ? 0 : 1;
    counts[type_count + 1] = slab_.acceleration.empty() ? 0 : 1;
    ranks_.all_reduce(View<std::uint64_t>(counts.data(), std::ssize(counts)), comm::Reduce::sum);
    ranks_.all_reduce(view(least), comm::Reduce::min);
    ranks_.all_reduce(view(most), comm::Reduce::max);
    std::copy_n(counts.begin(), type_count, f.count.begin());
    std::copy_n(least.begin(), type_count, f.least_mass.begin());
    std::copy_n(most.begin(), type_count, f.most_mass.begin());
    std::copy_n(least.begin() + type_count, type_count, f.least_softening.begin());
    std::copy_n(most.begin() + type_count, type_count, f.most_softening.begin());
    f.softenings = counts[type_count] > 0;
    f.accelerated = accelerated_ = counts[type_count + 1] > 0;

    std::vector<Vec3<double>> sampled(frame_samples);  // zero where another rank has the sample
    for (int k = 0; k < frame_samples; ++k)
        if (const index_t i = frame_sample(k, total()) - slab_.first; i >= 0 && i < own.size())
            sampled[static_cast<std::size_t>(k)] = own.position[static_cast<std::size_t>(i)];
    ranks_.all_reduce(View<double>(&sampled[0].x, 3 * frame_samples), comm::Reduce::sum);
    const auto origin = make_direct_frame(sampled, 0, total()).origin;
    f.range.closest = closest_pair(sampled, origin, total());
    double reach = 0;
    for (const auto& position : own.position) {
        const auto x = position - origin;
        reach = std::max({reach, std::abs(x.x), std::abs(x.y), std::abs(x.z)});
    }
    ranks_.all_reduce(View<double>(&reach, 1), comm::Reduce::max);
    f.range.reach = reach;

    const double share = 1 / static_cast<double>(total());
    const auto* position = own.position.data();
    const auto* mass = own.mass.data();
    auto sums = sum<4>(Cpu{}, own.size(), [=](index_t i) {
        const auto x = share * position[i];
        return Terms<4>{{x.x, x.y, x.z, mass[i]}};
    });
    ranks_.all_reduce(View<double>(sums.of, 4), comm::Reduce::sum);
    f.range.mass = sums[3];
    const Vec3<double> middle{sums[0], sums[1], sums[2]};
    auto radius = sum<1>(Cpu{}, own.size(), [=](index_t i) {
        const auto x = position[i] - middle;
        return Terms<1>{share * std::sqrt(dot(x, x))};
    });
    ranks_.all_reduce(View<double>(radius.of, 1), comm::Reduce::sum);
    f.range.radius = radius[0];
}

int RankSlabs::rank_of(index_t particle) const {
    return static_cast<int>(std::upper_bound(bounds_.begin(), bounds_.end(), particle) - bounds_.begin()) - 1;
}

bool RankSlabs::take_back(const std::vector<std::uint32_t>& number, std::vector<Vec3<double>> position, std::vector<Vec3<double>> velocity,
                          std::vector<Vec3<float>> acceleration) {
    auto& own = slab_.own;
    const auto place = [&](std::size_t to, std::size_t from) {
        own.position[to] = position[from];
        own.velocity[to] = velocity[from];
        if (!acceleration.empty()) slab_.acceleration[to] = acceleration[from];
    };
    const auto size = own.mass.size();
    std::uint64_t accelerated = acceleration.empty() ? 0 : 1;
    ranks_.all_reduce(View<std::uint64_t>(&accelerated, 1), comm::Reduce::max);
    accelerated_ = accelerated > 0;
    slab_.acceleration.resize(accelerated_ ? size : 0);
    if (number.empty() && position.size() == size) {
        own.position.swap(position);
        own.velocity.swap(velocity);
        slab_.acceleration.swap(acceleration);
    }
    // Particles that moved: sorted by the rank of their slab, then sent to one rank after the other.
    const int ranks = ranks_.size(), me = ranks_.rank();
    std::vector<std::size_t> begin(static_cast<std::size_t>(ranks) + 1), order(number.size());
    for (const auto n : number) ++begin[static_cast<std::size_t>(rank_of(n)) + 1];
    for (int r = 0; r < ranks; ++r) begin[static_cast<std::size_t>(r) + 1] += begin[static_cast<std::size_t>(r)];
    auto next = begin;
    for (std::size_t i = 0; i < number.size(); ++i) order[next[static_cast<std::size_t>(rank_of(number[i]))]++] = i;
    const auto first = static_cast<std::size_t>(slab_.first);
    for (auto k = begin[static_cast<std::size_t>(me)]; k < begin[static_cast<std::size_t>(me) + 1]; ++k)
        place(number[order[k]] - first, order[k]);
    std::vector<StateRecord> sent, received;
    for (int away = 1; away < ranks; ++away) {
        const int to = (me + away) % ranks, from = (me + ranks - away) % ranks;
        const auto part = begin[static_cast<std::size_t>(to)];
        sent.resize(begin[static_cast<std::size_t>(to) + 1] - part);
        for (std::size_t k = 0; k < sent.size(); ++k) {
            const auto i = order[part + k];
            sent[k] = {position[i], velocity[i], acceleration.empty() ? Vec3<float>{} : acceleration[i], number[i]};
        }
        const std::uint64_t out = sent.size();
        std::uint64_t in = 0;
        const auto count = ranks_.start_send(&out, sizeof out, to, count_tag);
        ranks_.receive(&in, sizeof in, from, count_tag);
        ranks_.wait(count);
        received.resize(in);
        std::optional<comm::Communicator::Request> request;
        if (out > 0) request = ranks_.start_send(sent.data(), out * sizeof(StateRecord), to, record_tag);
        if (in > 0) ranks_.receive(received.data(), in * sizeof(StateRecord), from, record_tag);
        if (request) ranks_.wait(*request);
        for (const auto& each : received) {
            const auto at = each.number - first;
            own.position[at] = each.position;
            own.velocity[at] = each.velocity;
            if (accelerated_) slab_.acceleration[at] = each.acceleration;
        }
    }
    std::uint64_t good = holds_for_all(Cpu{}, own.size(), [&](index_t k) {
        const auto i = static_cast<std::size_t>(k);
        return finite(own.position[i]) && finite(own.velocity[i]);
    });
    ranks_.all_reduce(View<std::uint64_t>(&good, 1), comm::Reduce::min);
    return good != 0;
}

std::vector<std::uint64_t> RankSlabs::peak_memory() const {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    std::vector<std::uint64_t> peaks(static_cast<std::size_t>(ranks_.size()));
    peaks[static_cast<std::size_t>(ranks_.rank())] = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
    ranks_.all_reduce(view(peaks), comm::Reduce::sum);
    return peaks;
}

const void* RankSlabs::values(Column column) const {
    const auto& own = slab_.own;
    switch (column) {
        case Column::position: return own.position.data();
        case Column::velocity: return own.velocity.data();
        case Column::mass: return own.mass.data();
        case Column::id: return own.id.data();
        case Column::type: return own.type.data();
        case Column::softening: return own.softening.data();
        default: return slab_.acceleration.data();
    }
}

void RankSlabs::rows(Column column, index_t first, index_t n, void* to) const {
    KS_EXPECT(first >= 0 && n >= 0 && first + n <= total());
    const auto width = bytes_of(column);
    const int me = ranks_.rank();
    for (int r = 0; r < ranks_.size(); ++r) {
        const auto begin = std::max(first, bounds_[static_cast<std::size_t>(r)]),
                   end = std::min(first + n, bounds_[static_cast<std::size_t>(r) + 1]);
        if (begin >= end || (me != 0 && me != r)) continue;
        const auto bytes = static_cast<std::size_t>(end - begin) * width;
        const auto own = [&] { return static_cast<const char*>(values(column)) + static_cast<std::size_t>(begin - slab_.first) * width; };
        const auto target = [&] { return static_cast<char*>(to) + static_cast<std::size_t>(begin - first) * width; };
        if (me != 0)
            ranks_.send(own(), bytes, 0, row_tag);
        else if (r == 0)
            std::memcpy(target(), own(), bytes);
        else
            ranks_.receive(target(), bytes, r, row_tag);
    }
}

}  // namespace kasane::gravity
