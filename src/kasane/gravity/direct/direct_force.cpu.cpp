// DirectForce<Cpu>: source blocks are stored in the groups that the kernel loads, and sums as fixed-point (binned) sums.
// Invariants: lengths and masses are scaled by powers of two, which is exact; a target's sum over a grain of sources is a function of
// target and grain alone (simd.hpp), and the sums of grains are added exactly: results are the same for any source blocks and threads.
#include <kasane/core/device/buffer.hpp>
#include <kasane/core/math/binned_sum.hpp>
#include <kasane/gravity/direct/direct_force.hpp>
#include <kasane/gravity/direct/layout.hpp>
#include <kasane/gravity/direct/simd.hpp>
#include <kasane/gravity/direct/variants.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <variant>

namespace kasane::gravity {
namespace detail {
namespace {

/// Largest number of parts of the binned sums.
constexpr int most_parts = 5;

index_t round_up(index_t n, index_t to) { return (n + to - 1) / to * to; }

/// The smallest power of two above a magnitude; 1 for zero. Non-finite values (a run that blew up) are clamped.
double power_above(double magnitude) { return magnitude > 0 ? std::ldexp(1.0, std::clamp(std::ilogb(magnitude), -1001, 999) + 1) : 1.0; }

/// Rounds a scaled coordinate and clamps it to the range where squares of distances are finite: a particle beyond it (its step was far
/// too long) exerts no force and does not propagate NaN.
template <class Real>
Real held(double x) {
    constexpr double most = sizeof(Real) == 4 ? 1e18 : 1e150;
    return static_cast<Real>(x > -most ? (x < most ? x : most) : -most);
}

/// Direct summation in one precision.
template <class Real>
class CpuDirectForce {
   public:
    CpuDirectForce(const Direct& options, index_t grain) : options_(options), grain_(grain) {}

    void set(const DirectFrame& frame) {
        // Float resolves positions best near the origin. Double needs no shift, which would lose digits of close pairs.
        origin_ = sizeof(Real) == 4 ? frame.origin : Vec3<double>{};
        const auto reach = [](const Vec3<double>& x) { return std::max({std::abs(x.x), std::abs(x.y), std::abs(x.z)}); };
        // The unit leaves a margin of 2^20 to the extent: a far particle in the frame's sample does not lose the digits of close pairs.
        per_length_ = 1 / power_above(std::max(0x1p-20 * std::max(frame.extent, reach(frame.origin - origin_)), options_.softening));
        per_mass_ = 1 / power_above(frame.largest_mass);
        eps_ = per_length_ * options_.softening;
        scaled_ = {{}, per_length_ * frame.extent, per_mass_ * frame.largest_mass, frame.total};
        job_.grain = grain_;
        job_.eps2 = static_cast<Real>(eps_ * eps_);
        job_.form = pair_softening(options_);
        if (!own()) job_.form = eps_ * eps_ >= softened_from<Real> ? PairSoftening::common : PairSoftening::none;
    }

    void pack(int threads, View<const Vec3<double>> position, View<const double> mass, View<const double> softening,
              View<std::byte> bodies) const {
        constexpr index_t group = source_group<Real>;
        Real* const groups = reinterpret_cast<Real*>(bodies.ptr);
        const index_t n = position.n, padded = round_up(n, grain_);
#pragma omp parallel for schedule(static) num_threads(threads) if (n > 4096)
        for (index_t first = 0; first < padded; first += group) {
            Real *const x = groups + rows() * first, *const y = x + group, *const z = y + group, *const m = z + group;
            const index_t count = std::clamp(n - first, index_t{0}, group);
            for (index_t j = 0; j < count; ++j) {
                const auto at = place(position[first + j]);
                x[j] = at.x, y[j] = at.y, z[j] = at.z;
                m[j] = static_cast<Real>(per_mass_ * mass[first + j]);
            }
            for (Real* const component : {x, y, z, m}) std::fill(component + count, component + group, Real(0));
            if (!own()) continue;
            for (index_t j = 0; j < group; ++j) m[group + j] = j < count ? term(softening, first + j) : Real(0);
        }
    }

    void begin(int threads, View<const Vec3<double>> targets, View<const double> softening, index_t first, bool potential) {
        const index_t padded = round_up(targets.n, target_padding);
        first_ = first;
        job_.targets = targets.n;
        job_.potential = potential;
        job_.leaves_out_own = potential && first != Self::none;
        choose_bins();
        target_.reserve_discarding((own() ? 4 : 3) * padded);
        sums_.reserve_discarding(job_.sums.parts * padded * sum_components);
        job_.sums.at = sums_.data();
        Real *const x = target_.data(), *const y = x + padded, *const z = y + padded;
        job_.x = x, job_.y = y, job_.z = z;
        Real* const terms = own() ? z + padded : nullptr;
        job_.term = terms;
#pragma omp parallel for schedule(static) num_threads(threads) if (padded > 4096)
        for (index_t block = 0; block < padded; block += target_padding) {
            for (index_t i = block; i < block + target_padding; ++i) {
                const auto at = place(targets[std::min(i, targets.n - 1)]);
                x[i] = at.x, y[i] = at.y, z[i] = at.z;
                if (terms) terms[i] = term(softening, std::min(i, targets.n - 1));
            }
            std::fill_n(job_.sums.of(block), job_.sums.parts * SimdSums::stride, 0.0);
        }
    }

    void add(int threads, const SourceBlock& sources) {
        job_.bodies = reinterpret_cast<const Real*>(sources.bodies.ptr);
        job_.sources = sources.count;
        job_.shift = first_ - sources.first;
        job_.sums.bins = &bins_[0][0];
        if (options_.variant == DirectVariant::plain)
            add_plain(threads);
        else
            add_simd(job_, threads);
    }

    void end(int threads, const Field& out) const {
        const auto factor = factors();
        const double per_acceleration = factor.acceleration * options_.G / per_mass_ * per_length_ * per_length_;
        const double per_potential = -factor.potential * options_.G / per_mass_ * per_length_;
#pragma omp parallel for schedule(static) num_threads(threads) if (job_.targets > 4096)
        for (index_t block = 0; block < job_.targets; block += target_padding) {
            double field[SimdSums::stride] = {};
            for (int k = job_.sums.parts; k-- > 0;)
                for (index_t c = 0; c < SimdSums::stride; ++c) field[c] += job_.sums.of(block)[k * SimdSums::stride + c];
            const double* of = field;
            for (index_t i = block; i < std::min(block + target_padding, job_.targets); ++i, of += sum_components) {
                if (!out.acceleration.empty()) out.acceleration[i] = per_acceleration * Vec3<double>{of[0], of[1], of[2]};
                if (!out.potential.empty()) out.potential[i] = per_potential * of[3];
            }
        }
    }

   private:
    Vec3<Real> place(const Vec3<double>& x) const {
        const auto from = x - origin_;
        return {held<Real>(per_length_ * from.x), held<Real>(per_length_ * from.y), held<Real>(per_length_ * from.z)};
    }
    bool own() const { return own_softening(pair_softening(options_)); }
    /// Numbers of a packed particle.
    index_t rows() const { return own() ? 5 : 4; }
    /// Softening term of particle i in the kernel's units.
    Real term(View<const double> softening, index_t i) const {
        return static_cast<Real>(softening_term(per_length_ * (softening.empty() ? options_.softening : softening[i])));
    }
    SimdFactors factors() const {
        return options_.variant == DirectVariant::plain ? SimdFactors{1, 1} : simd_factors<Real>(job_.form, job_.potential);
    }

    /// Chooses the number of parts so that the acceleration by the heaviest particle at the distance of the extent keeps all its digits.
    void choose_bins() {
        const auto factor = factors();
        const double pull = scaled_.acceleration_bound(eps_), well = scaled_.potential_bound(eps_);
        // Particles at one point may have softened and unsoftened pairs: then no distance says which bits of a bound without softening
        // count.
        const bool one_place = own() && scaled_.extent == 0;
        const double least = one_place ? 0 : scaled_.largest_mass / (scaled_.extent * scaled_.extent);
        job_.sums.parts = 2;
        const auto resolution = [&](int parts) { return std::ldexp(pull, -23 - 27 * parts); };
        const double wanted = least * std::numeric_limits<Real>::epsilon() / 4;
        while (job_.sums.parts < most_parts && resolution(job_.sums.parts) > wanted) ++job_.sums.parts;
        const Bins<most_parts> accelerations(pull / factor.acceleration), potentials(well / factor.potential);
        for (int k = 0; k < most_parts; ++k)
            for (int c = 0; c < bins_width; ++c) bins_[k][c] = c % sum_components < 3 ? accelerations.shift[k] : potentials.shift[k];
    }

    /// The variant `plain`: sums each grain of the packed sources in double and adds the sum to the binned sums.
    void add_plain(int threads) {
        using enum PairSoftening;
        switch (job_.form) {
            case none: return add_plain<none>(threads);
            case common: return add_plain<common>(threads);
            case plummer: return add_plain<plummer>(threads);
            case spline: return add_plain<spline>(threads);
        }
    }
    template <PairSoftening form>
    void add_plain(int threads) {
#pragma omp parallel for schedule(static) num_threads(threads)
        for (index_t i = 0; i < job_.targets; ++i)
            for (index_t start = 0; start < job_.sources; start += grain_) {
                const index_t count = std::min(grain_, job_.sources - start);
                const index_t own = job_.leaves_out_own ? i + job_.shift - start : Self::none;
                double run[sum_components] = {};
                for (index_t j = 0; j < count; ++j) {
                    constexpr index_t group = source_group<Real>;
                    const Real* const at = job_.bodies + (start + j) / group * rows() * group + j % group;
                    const Real dx = at[0] - job_.x[i], dy = at[group] - job_.y[i], dz = at[2 * group] - job_.z[i];
                    Real m_over_r, m_over_r3;
                    if constexpr (own_softening(form)) {
                        if (j == own) continue;
                        const auto pair = softened_pair<form>(dx * dx + dy * dy + dz * dz, at[4 * group] + job_.term[i]);
                        m_over_r = at[3 * group] * pair.potential, m_over_r3 = at[3 * group] * pair.force;
                    } else {
                        const Real r2 = job_.eps2 + dx * dx + dy * dy + dz * dz;
                        if (j == own || r2 == 0) continue;
                        m_over_r = at[3 * group] / std::sqrt(r2), m_over_r3 = m_over_r / r2;
                    }
                    run[0] += static_cast<double>(m_over_r3 * dx);
                    run[1] += static_cast<double>(m_over_r3 * dy);
                    run[2] += static_cast<double>(m_over_r3 * dz);
                    run[3] += static_cast<double>(m_over_r);
                }
                for (int c = 0; c < sum_components; ++c) {
                    Bins<most_parts> bins;
                    for (int k = 0; k < most_parts; ++k) bins.shift[k] = bins_[k][c];
                    for (int k = 0; k < job_.sums.parts; ++k) job_.sums.of(i)[k * SimdSums::stride + c] += bins.cut(k, run[c]);
                }
            }
    }

    Direct options_;
    index_t grain_, first_ = 0;
    Vec3<double> origin_;
    double per_length_ = 1, per_mass_ = 1;  ///< powers of two
    double eps_ = 0;                        ///< softening in the kernel's units
    DirectFrame scaled_;                    ///< the frame in the kernel's units
    double bins_[most_parts][bins_width] = {};
    SimdJob<Real> job_;
    Buffer<Real, Cpu> target_;  ///< x[], y[], z[], softening terms []
    Buffer<double, Cpu> sums_;  ///< layout: SimdSums
};

}  // namespace

/// Small enough to distribute a few thousand particles over ranks, large enough for the work per grain (1.5% of 1024 sources in float).
index_t cpu_grain(index_t total) { return total < 1024 ? 256 : total < 16384 ? 512 : 1024; }

std::uint64_t cpu_force_bytes(index_t targets, const Direct& options) {
    const bool single = options.precision == Precision::single_;
    const std::uint64_t coordinates = own_softening(pair_softening(options)) ? 4 : 3;
    // choose_bins() takes more parts only where sqrt(n) times the extent is above 2^39 softenings.
    const std::uint64_t real = single ? sizeof(float) : sizeof(double), parts = single ? 3 : 4;
    return static_cast<std::uint64_t>(round_up(targets, target_padding)) * (coordinates * real + parts * sum_components * sizeof(double));
}

}  // namespace detail

template <>
struct DirectForce<Cpu>::State {
    Cpu on;
    index_t grain;
    std::size_t body_bytes;
    std::variant<detail::CpuDirectForce<float>, detail::CpuDirectForce<double>> in;
    Buffer<std::byte, Cpu> bodies{};  ///< all particles packed, for whole evaluations

    /// Computes the field of all particles at the targets.
    void evaluate(View<const Vec3<double>> targets, View<const double> softening, index_t first, const Sources& all, const Field& out) {
        if (targets.n == 0) return;
        const index_t n = all.position.n;
        bodies.reserve_discarding(detail::round_up(n, grain) * static_cast<index_t>(body_bytes));
        const int threads = thread_count(on);
        std::visit(
            [&](auto& sum) {
                sum.pack(threads, all.position, all.mass, all.softening, bodies.view());
                sum.begin(threads, targets, softening, first, !out.potential.empty());
                sum.add(threads, {bodies.view(), n, 0});
                sum.end(threads, out);
            },
            in);
    }
};

template <>
DirectForce<Cpu>::DirectForce(Cpu on, const Direct& options, index_t total) {
    detail::validate_cpu(options);
    const auto grain = detail::cpu_grain(total);
    const auto body = static_cast<std::size_t>(detail::layout_of(options).body_bytes());
    if (options.precision == Precision::single_)
        state_ = std::make_unique<State>(State{on, grain, body, detail::CpuDirectForce<float>(options, grain)});
    else
        state_ = std::make_unique<State>(State{on, grain, body, detail::CpuDirectForce<double>(options, grain)});
}

template <>
DirectForce<Cpu>::~DirectForce() = default;
template <>
DirectForce<Cpu>::DirectForce(DirectForce&&) noexcept = default;
template <>
DirectForce<Cpu>& DirectForce<Cpu>::operator=(DirectForce&&) noexcept = default;

template <>
void DirectForce<Cpu>::accelerate(const Sources& all, View<Vec3<double>> acceleration) {
    state_->evaluate(all.position, all.softening, 0, all, {acceleration, {}});
}
template <>
void DirectForce<Cpu>::potential(const Sources& all, View<double> potential) {
    state_->evaluate(all.position, all.softening, 0, all, {{}, potential});
}
template <>
void DirectForce<Cpu>::accelerate_at(View<const Vec3<double>> targets, const Sources& all, View<Vec3<double>> acceleration,
                                     View<const double> softening) {
    state_->evaluate(targets, softening, Self::none, all, {acceleration, {}});
}

template <>
index_t DirectForce<Cpu>::grain() const {
    return state_->grain;
}
template <>
std::size_t DirectForce<Cpu>::body_bytes() const {
    return state_->body_bytes;
}
template <>
index_t DirectForce<Cpu>::padded(index_t count) const {
    return detail::round_up(count, state_->grain);
}

template <>
void DirectForce<Cpu>::set(const DirectFrame& frame) {
    std::visit([&](auto& in) { in.set(frame); }, state_->in);
}
template <>
void DirectForce<Cpu>::pack(Cpu on, View<const Vec3<double>> position, View<const double> mass, View<std::byte> bodies,
                            View<const double> softening) {
    std::visit([&](auto& in) { in.pack(thread_count(on), position, mass, softening, bodies); }, state_->in);
}
template <>
void DirectForce<Cpu>::begin(Cpu on, View<const Vec3<double>> targets, index_t first, bool, bool potential, View<const double> softening) {
    std::visit([&](auto& in) { in.begin(thread_count(on), targets, softening, first, potential); }, state_->in);
}
template <>
void DirectForce<Cpu>::add(Cpu on, const SourceBlock& sources) {
    std::visit([&](auto& in) { in.add(thread_count(on), sources); }, state_->in);
}
template <>
void DirectForce<Cpu>::end(Cpu on, const Field& out) {
    std::visit([&](auto& in) { in.end(thread_count(on), out); }, state_->in);
}

template <>
bool DirectForce<Cpu>::both_sides(int) const {
    return false;
}

std::uint64_t direct_force_memory([[maybe_unused]] const AnySpace& on, index_t own, [[maybe_unused]] index_t largest_block,
                                  const Direct& options) {
#if defined(KASANE_CUDA)
    if (std::holds_alternative<Cuda>(on)) return detail::cuda_force_bytes(own, largest_block, options);
#endif
    return detail::cpu_force_bytes(own, options);
}

template class DirectForce<Cpu>;

}  // namespace kasane::gravity
