#include <kasane/core/base/error.hpp>
#include <kasane/gravity/galaxy/disk/disk_draw.hpp>
#include <kasane/gravity/galaxy/disk/disk_structure.hpp>
#include <kasane/gravity/galaxy/disk/disk_system.hpp>
#include <kasane/gravity/galaxy/disk/planar_distribution.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <numbers>
#include <optional>

namespace kasane::gravity {

namespace {

constexpr double isotropic_share = 0.9;  // largest sigma_R^2 in units of that of a disk without rotation
constexpr auto heights = static_cast<std::size_t>(DiskDraw::heights);

}  // namespace

namespace detail {

/// One disk's kinematics, on the R axis of the grid.
struct Kinematics {
    PlanarDistribution planar;
    RadialTable tilt, mean_drop;
    std::vector<double> height;  // these are the tables of DiskDraw
};

}  // namespace detail

struct DiskSystem::State {
    GalaxyModel model;
    std::vector<std::size_t> component;
    DiskStructure structure;
    std::vector<detail::Kinematics> kinematics;
    LogRadialTable kappa2_over_omega2;  // in the plane

    Cpu on;

    State(const GalaxyModel& m, std::shared_ptr<const SphericalPotential> spheres, Cpu threads, const ProgressFunction& progress)
        : model(m), structure(m, std::move(spheres), threads, progress), on(threads) {
        for (std::size_t c = 0; c < model.components.size(); ++c) {
            if (is_disk(model.components[c].law)) component.push_back(c);
        }
        plane();
        std::vector<InputProblem> problems;
        for (std::size_t d = 0; d < component.size(); ++d) {
            if (auto problem = move(d)) problems.push_back(*problem);
        }
        if (!problems.empty()) throw InputError(problems);
    }

    const StretchedAxis& axis() const { return structure.axis(); }
    double radius(std::size_t i) const { return axis().centre(i); }
    /// Index of the column at R; inside the first cell centre, that of the first centre.
    double inside(double R) const { return std::max(R, radius(0)); }
    double index(double R) const { return axis().index(inside(R)); }
    Where at_key(std::size_t d, const char* option) const {
        Where where;
        where.key = fmt::format("components.{}.{}", component[d], option);
        return where;
    }

    /// dPhi/dR in the plane. It is not tabulated, because near a black hole it falls by a large factor from cell to cell.
    double force(double R) const { return -structure.at(inside(R), 0).d_R; }
    double omega2(double R) const { return std::max(force(R), 0.) / inside(R); }
    double kappa2(double R) const { return kappa2_over_omega2(index(R)) * omega2(R); }
    /// Psi(R, 0) - Psi(R, z) > 0.
    double drop(double R, double z) const { return structure.psi(inside(R), 0) - structure.psi(inside(R), z); }

    void plane() {
        std::vector<double> force_plane;
        for (std::size_t i = 0; i < axis().cells; ++i) force_plane.push_back(std::max(force(radius(i)), 1e-300));  // move() refuses these
        auto ratio = log_slopes(axis(), force_plane);
        for (double& each : ratio) each = std::max(3 + each, 1e-3);
        kappa2_over_omega2 = LogRadialTable(axis(), ratio);
    }

    std::optional<InputProblem> move(std::size_t d);
    void heights_of(std::size_t d);
};

std::optional<InputProblem> DiskSystem::State::move(std::size_t d) {
    const auto& profile = structure.profile(d);
    const auto& columns = structure.columns(d);
    const Component& disk = model.components[component[d]];
    const std::size_t n = axis().cells;
    const auto count = static_cast<index_t>(n);
    const int threads = thread_count(on);
    auto& k = kinematics.emplace_back();

    // Averages over the column: dPhi/dR, the drop of the potential, and the dependence of R dPhi/dR and the density's slope on the drop.
    PlanarProblem problem{axis(), std::vector<double>(n), std::vector<double>(n), std::vector<double>(n)};
    std::vector<double> mean_drop(n), force_tilt(n), slope_tilt(n), least_force(n);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (index_t m = 0; m < count; ++m) {
        const auto i = static_cast<std::size_t>(m);
        const double R = radius(i), u = static_cast<double>(i) + 0.5, h = columns.height(u), sigma2 = columns.sigma_z2(u);
        const auto in_plane = structure.at(R, 0);
        const double ratio = columns.sigma_z2(u + 0.5) / columns.sigma_z2(u - 0.5), slope_sigma2 = std::log(ratio) * R / axis().slope(R);
        double sum = 0, force = 0, drop = 0, drop2 = 0, rising = 0, rising_drop = 0, thinning = 0, thinning_drop = 0;
        constexpr int last = 80;  // an even number, for Simpson's rule in t = asinh(z / h)
        constexpr double step = DiskColumns::step / 2;
        for (int q = 0; q <= last; ++q) {
            const double t = step * q;
            const auto a = structure.at(R, h * std::sinh(t));
            const double x = in_plane.psi - a.psi;
            const double w = (q == 0 || q == last ? 1 : (q % 2 == 1 ? 4 : 2)) * std::cosh(t) * std::exp(-x / sigma2);
            const double F = -R * a.d_R;  // R dPhi/dR
            // d ln rho / d ln R up to a constant of the column.
            const double slope = R * (a.d_R - in_plane.d_R) / sigma2 + x / sigma2 * slope_sigma2;
            sum += w, force += w * -a.d_R, drop += w * x, drop2 += w * x * x;
            rising += w * F, rising_drop += w * F * x, thinning += w * slope, thinning_drop += w * slope * x;
        }
        drop /= sum;
        const double variance = drop2 / sum - drop * drop;
        problem.surface_density[i] = profile(R);
        problem.force[i] = force / sum;
        least_force[i] = std::min(problem.force[i], -in_plane.d_R);
        mean_drop[i] = drop;
        force_tilt[i] = (rising_drop / sum - rising / sum * drop) / variance;
        slope_tilt[i] = (thinning_drop / sum - thinning / sum * drop) / variance;
    }
    for (std::size_t i = 0; i < n; ++i) {
        if (least_force[i] > 0) continue;
        return InputProblem{fmt::format("there are no circular orbits at R = {:.4g}: the mass outside attracts more than the mass inside. "
                                        "Add mass to the centre or fill the hole of the disk",
                                        radius(i)),
                            at_key(d, "mass")};
    }

    // The requested dispersion, from Q at the scale, and its limit where the mean rotation vanishes: v^2 = v_c^2 + sigma_R^2
    // (1 - kappa^2/(4 Omega^2) + d ln(Sigma sigma_R^2)/d ln R) >= 0.                      [Binney & Tremaine 2008, eq. 4.228, 6.70]
    const double scale = disk.scale, u_scale = index(scale), sigma_scale = profile(scale);
    const RadialTable force_of(axis(), problem.force);
    const double per_q = 3.36 * sigma_scale / std::sqrt(kappa2(scale));
    const double deficit = kappa2_over_omega2(u_scale) / 4 - profile.log_slope(scale);  // d ln sigma_R^2 / d ln R = -1 cancels the 1
    const double most2 = deficit > 0 ? scale * force_of(u_scale) / deficit : std::numeric_limits<double>::infinity();
    const double at_scale = disk.disk.toomre_q * per_q;
    const auto refuse = [&](double most_q) {
        return InputProblem{fmt::format("Q = {:.4g} at R = {:.4g} cannot be met: with sigma_R = {:.4g} (G = 1) no mean rotation would be "
                                        "left against a circular speed of {:.4g}. The greatest Q there is below {:.3g}",
                                        disk.disk.toomre_q, scale, at_scale, std::sqrt(omega2(scale)) * scale, most_q),
                            at_key(d, "disk.toomre_q")};
    };
    if (!(at_scale * at_scale < most2)) return refuse(std::sqrt(most2) / per_q);

    // sigma_R^2 of a disk that does not rotate: Int_R^inf Sigma dPhi/dR dR / Sigma. No planar equilibrium is hotter.
    double pressure = 0;
    for (std::size_t i = n; i-- > 0;) {
        const double R = radius(i), here = problem.surface_density[i] * problem.force[i] * axis().slope(R);
        const double sigma2 = at_scale * at_scale * std::exp(1 - R / scale);
        problem.sigma_R2[i] = std::max(sigma2, 1e-12 * problem.force[i] * R);
        pressure += here / 2;
        if (problem.surface_density[i] > 0) {
            const double limit = isotropic_share * pressure / problem.surface_density[i];
            problem.sigma_R2[i] *= std::pow(1 + std::pow(problem.sigma_R2[i] / limit, 8), -0.125);
        }
        pressure += here / 2;
    }
    k.planar = PlanarDistribution(problem, on);
    const double reached = std::sqrt(k.planar.at(u_scale).sigma_R2);
    if (std::abs(reached / at_scale - 1) > 0.03) return refuse(reached / per_q);

    std::vector<double> tilt(n);
    for (std::size_t i = 0; i < n; ++i) {
        const double u = static_cast<double>(i) + 0.5, sigma_R2 = k.planar.at(u).sigma_R2;
        tilt[i] = force_tilt[i] + sigma_R2 * slope_tilt[i];
    }
    k.tilt = RadialTable(axis(), tilt);
    k.mean_drop = RadialTable(axis(), mean_drop);
    heights_of(d);
    return std::nullopt;
}

void DiskSystem::State::heights_of(std::size_t d) {
    auto& table = kinematics[d].height;
    table.resize(axis().cells * heights);
    const auto count = static_cast<index_t>(axis().cells);
    const int threads = thread_count(on);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (index_t m = 0; m < count; ++m) {
        const auto i = static_cast<std::size_t>(m);
        for (std::size_t q = 0; q < heights; ++q) {
            table[i * heights + q] =
                structure.columns(d).height_of_share(i, std::erf(DiskDraw::normal_step * static_cast<double>(q) / std::numbers::sqrt2));
        }
    }
}

template <Space S>
DiskDraw DiskDraw::of(const DiskSystem& system, std::size_t disk, TableMemory<S>& memory) {
    const auto& state = *system.state_;
    const auto& profile = state.structure.profile(disk);
    const auto& k = state.kinematics[disk];
    const auto* spheres = state.structure.spheres();
    return {.axis = state.axis(),
            .total = profile.total(),
            .mass = profile.mass_by_index().curve(memory),
            .height = memory(k.height),
            .field = state.structure.field().table(memory),
            .spheres = spheres ? PotentialCurves::of(*spheres, memory) : PotentialCurves{},
            .has_spheres = spheres != nullptr,
            .log_sigma_z2 = state.structure.columns(disk).sigma_z2_table().log_curve(memory),
            .planar = k.planar.draw(memory),
            .tilt = k.tilt.curve(memory),
            .mean_drop = k.mean_drop.curve(memory),
            .retrograde = state.model.components[state.component[disk]].disk.retrograde};
}
template DiskDraw DiskDraw::of(const DiskSystem&, std::size_t, TableMemory<Cpu>&);
#if defined(KASANE_CUDA)
template DiskDraw DiskDraw::of(const DiskSystem&, std::size_t, TableMemory<Cuda>&);
#endif

DiskSystem::DiskSystem(const GalaxyModel& model, std::shared_ptr<const SphericalPotential> spheres, Cpu on,
                       const ProgressFunction& progress)
    : state_(std::make_unique<State>(model, std::move(spheres), on, progress)) {}
DiskSystem::~DiskSystem() = default;
DiskSystem::DiskSystem(DiskSystem&&) noexcept = default;

std::size_t DiskSystem::size() const { return state_->component.size(); }
std::size_t DiskSystem::component(std::size_t disk) const { return state_->component[disk]; }
double DiskSystem::density(std::size_t disk, double R, double z) const { return state_->structure.density(disk, R, z); }
double DiskSystem::psi(double R, double z) const { return state_->structure.disks_psi(R, z); }
DiskSystem::Pull DiskSystem::pull(double R, double z) const {
    const auto a = state_->structure.at(R, z);
    return {a.d_R, a.d_z};
}

std::vector<double> DiskSystem::own_circular_speed2(std::size_t disk, const std::vector<double>& radius) const {
    const auto field = state_->structure.own_field(disk);
    std::vector<double> speed2;
    for (const double R : radius) speed2.push_back(-R * field.at(R, 0).d_R);
    return speed2;
}

DiskAt DiskSystem::at(std::size_t disk, double R) const {
    const auto& s = *state_;
    const double u = s.index(R);
    const auto& columns = s.structure.columns(disk);
    const auto moments = s.kinematics[disk].planar.at(u);
    DiskAt a;
    a.surface_density = s.structure.profile(disk)(R);
    a.height = columns.height(u);
    a.sigma_R = std::sqrt(moments.sigma_R2);
    a.sigma_phi = std::sqrt(moments.sigma_phi2);
    a.sigma_z = std::sqrt(columns.sigma_z2(u));
    a.omega = std::sqrt(s.omega2(R));
    a.kappa = std::sqrt(s.kappa2(R));
    a.circular_speed = std::sqrt(std::max(s.force(R), 0.) * R);
    a.rotation = rotation(disk, R, 0);
    a.toomre_q = a.sigma_R * a.kappa / (3.36 * a.surface_density);
    return a;
}

double DiskSystem::rotation(std::size_t disk, double R, double z) const {
    const auto& s = *state_;
    const auto& k = s.kinematics[disk];
    const double u = s.index(R);
    const auto moments = k.planar.at(u);
    return moments.rotation * std::sqrt(std::max(1 + k.tilt(u) * (s.drop(R, z) - k.mean_drop(u)) / moments.square, 0.));
}

DiskSystem::LeastQ DiskSystem::least_q(std::size_t disk) const {
    const auto& s = *state_;
    LeastQ least{std::numeric_limits<double>::infinity(), 0};
    for (std::size_t i = 0; i < s.axis().cells && s.radius(i) < s.structure.profile(disk).edge(); ++i) {
        const double q = at(disk, s.radius(i)).toomre_q;
        if (q < least.toomre_q) least = {q, s.radius(i)};
    }
    return least;
}

DiskSystem::Misses DiskSystem::misses(std::size_t disk) const {
    const auto& planar = state_->kinematics[disk].planar;
    return {planar.density_error(), planar.dispersion_error()};
}

double DiskSystem::total_mass() const {
    double mass = 0;
    for (std::size_t d = 0; d < size(); ++d) mass += state_->structure.profile(d).total();
    return mass;
}

DensityLaw DiskSystem::averaged() const {
    // ln of the mean density over spheres, (1/r) Int_0^r rho(sqrt(r^2 - z^2), z) dz, on a grid of ln r.
    constexpr double step = 1. / 48;
    double least = std::numeric_limits<double>::infinity(), outer = 0;
    for (std::size_t d = 0; d < size(); ++d) {
        const auto& p = state_->structure.profile(d);
        // A sphere has less mass than the cylinder around it; inside the first cell the mass is taken to grow as R^2.
        const double cell = state_->axis().face(1);
        least = std::min(least, cell * std::sqrt(1e-11 * total_mass() / std::max(p.mass(cell), 1e-11 * total_mass())));
        outer = std::max(outer, std::hypot(p.edge(), DiskColumns::reach(p.height())));
    }
    const double first = std::log(least), last = std::log(outer);
    const auto n = static_cast<index_t>((last - first) / step) + 1;
    const double lowest = 1e-40 * total_mass() / (outer * outer * outer);  // replaces 0, which has no logarithm
    std::vector<double> log_rho(static_cast<std::size_t>(n));
#pragma omp parallel for schedule(dynamic, 8) num_threads(thread_count(state_->on))
    for (index_t k = 0; k < n; ++k) {
        const double r = std::exp(first + step * static_cast<double>(k));
        double rho = 0;
        for (std::size_t d = 0; d < size(); ++d) {
            // With z = core sinh t the nodes are even along the column near the plane and along the circle far from it.
            const auto& columns = state_->structure.columns(d);
            const double core = std::min(columns.height(state_->index(r)), r), end = std::asinh(r / core);
            const int intervals = 2 * (32 + static_cast<int>(8 * end));
            const double dt = end / intervals;
            double sum = 0;
            for (int q = 0; q <= intervals; ++q) {
                const double z = std::min(core * std::sinh(dt * q), r);
                const double w = (q == 0 || q == intervals ? 1 : (q % 2 == 1 ? 4 : 2)) * core * std::cosh(dt * q);
                sum += w * density(d, std::sqrt((r - z) * (r + z)), z);
            }
            rho += sum * dt / 3 / r;
        }
        log_rho[static_cast<std::size_t>(k)] = std::log(std::max(rho, lowest));
    }
    DensityLaw law;
    law.at = [table = UniformHermite(first, step, log_rho, monotone_slopes(log_rho, step)), outer](double r) {
        return DensityAt{r < outer ? std::exp(table(std::log(r))) : 0, 0, 0};
    };
    law.inner = least;
    law.outer = outer;
    law.finite = true;
    return law;
}

int DiskSystem::iterations() const { return state_->structure.iterations(); }
int DiskSystem::solver_iterations() const { return state_->structure.solver_iterations(); }

}  // namespace kasane::gravity
