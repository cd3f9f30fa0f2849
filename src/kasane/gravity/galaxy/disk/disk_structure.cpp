#include <kasane/core/base/error.hpp>
#include <kasane/core/math/quadrature.hpp>
#include <kasane/gravity/galaxy/disk/cylinder_poisson.hpp>
#include <kasane/gravity/galaxy/disk/disk_structure.hpp>
#include <kasane/gravity/galaxy/component/surface_density.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numbers>

namespace kasane::gravity {

using std::numbers::pi;

namespace {

constexpr double tolerance = 1e-4;      // of the iteration of density and potential
constexpr int iteration_limit = 100;    // iterations per grid; an isolated sheet takes 6
constexpr double beyond_edge = 1e-9;    // fraction of a disk's mass beyond its edge
constexpr double spheres_share = 0.04;  // largest contribution of the spheres to sigma_z^2, in units of v_c^2

/// A smooth minimum, below both numbers; for a << b its relative error is (a/b)^4 / 4.
double smooth_least(double a, double b) {
    if (a == 0 || b == 0) return 0;
    const double q = a < b ? a / b : b / a;
    return std::min(a, b) / std::sqrt(std::sqrt(1 + q * q * q * q));
}

/// Solves for the potential. @return the number of iterations @throws ComputationError: no convergence
int solve(CylinderPoisson& poisson, const std::vector<double>& mass, const Multipoles& outside, std::vector<double>& psi) {
    const auto log = poisson.solve(mass, outside, psi);
    if (!log.converged()) {
        throw ComputationError(
            fmt::format("the potential of the disks cannot be solved for: conjugate gradients ended with \"{}\" "
                        "after {} iterations at a residual of {:.2g}. Try a greater disk.height",
                        krylov::name(log.end), log.iterations, log.true_residual));
    }
    return static_cast<int>(log.iterations);
}

}  // namespace

SurfaceProfile::SurfaceProfile(const Component& disk) : total_(disk.mass), height_(disk.disk.height) {
    auto law = surface_density(disk);
    sigma_ = [law](double R) { return law(R).sigma; };
    slope_ = [law](double R) {
        const auto s = law(R);
        return s.sigma > 0 ? R * s.d / s.sigma : 0;
    };
    // Shells in ln R over all radii that a law of this scale can cover.
    constexpr double step = 1. / 64;
    const double end = surface_end(disk), first = std::log(end) - 40;
    const int n = static_cast<int>(40 / step);
    std::vector<double> inside(static_cast<std::size_t>(n) + 1);
    for (int k = 0; k < n; ++k) {
        const double x = first + k * step;
        const auto per_log = [&](double y) {
            const double R = std::exp(y);
            return 2 * pi * R * R * sigma_(R);
        };
        const double shell = integrate_short(per_log, x, x + step);
        inside[static_cast<std::size_t>(k) + 1] = inside[static_cast<std::size_t>(k)] + shell;
    }
    const auto radius_of = [&](double share) {
        const auto above = std::lower_bound(inside.begin(), inside.end(), share * inside.back());
        return std::exp(first + step * static_cast<double>(above - inside.begin()));
    };
    edge_ = radius_of(1 - beyond_edge);
    inner_ = radius_of(0.01);
}

double SurfaceProfile::log_slope(double R) const { return slope_(R); }

void SurfaceProfile::tabulate(const StretchedAxis& axis) {
    axis_ = axis;
    normalisation_ = 1;
    const auto per_index = [&](double u) {
        const double R = axis.at(u);
        return 2 * pi * R * (R < edge_ ? sigma_(R) : 0) * axis.slope(R);
    };
    std::vector<double> mass(axis.cells + 1), slope(axis.cells + 1);
    for (std::size_t i = 0; i <= axis.cells; ++i) {
        const auto u = static_cast<double>(i);
        slope[i] = per_index(u);
        if (i == 0) continue;
        // Cells at the edge or with a cusp are integrated in several parts.
        double cell = 0;
        for (int part = 0; part < 4; ++part) cell += integrate_short(per_index, u - 1 + part / 4., u - 1 + (part + 1) / 4.);
        mass[i] = mass[i - 1] + cell;
    }
    normalisation_ = total_ / mass.back();
    for (std::size_t i = 0; i <= axis.cells; ++i) mass[i] *= normalisation_, slope[i] *= normalisation_;
    mass_ = UniformHermite(0, 1, mass, slope);
}

double SurfaceProfile::mass(double R) const { return R < axis_.end() ? mass_(axis_.index(R)) : total_; }

double DiskColumns::share(std::size_t column, double z) const {
    const auto& c = column_[column];
    const double t = std::asinh(z / c.height);
    return t < c.share.last() ? c.share(t) : 1;
}

double DiskColumns::height_of_share(std::size_t column, double q) const {
    const auto& c = column_[column];
    return c.height * std::sinh(c.share.inverse(q));
}

DiskStructure::DiskStructure(const GalaxyModel& model, std::shared_ptr<const SphericalPotential> spheres, Cpu on,
                             const ProgressFunction& progress, const DiskResolution& resolution)
    : spheres_(std::move(spheres)) {
    for (const auto& c : model.components) {
        if (is_disk(c.law)) profile_.emplace_back(c);
    }
    columns_.resize(profile_.size());
    double R_core = std::numeric_limits<double>::infinity(), z_core = R_core, extent = 0;
    for (const auto& p : profile_) {
        R_core = std::min(R_core, p.inner());
        z_core = std::min(z_core, p.height());
        extent = std::max({extent, p.edge(), DiskColumns::reach(p.height())});
    }
    constexpr int grids = 3;
    const auto axis = [&](double core, double step) {
        // The numbers of cells of the last grid are multiples of those of the first; it covers about twice the extent plus one percent.
        const double cells = std::asinh(2 * extent / core) / step;
        constexpr std::size_t multiple = 1 << (grids - 1);
        return StretchedAxis{core, step, (static_cast<std::size_t>(cells) / multiple + 1) * multiple};
    };
    const CylinderGrid last{axis(R_core, resolution.R_step), axis(z_core, resolution.z_step)};
    for (int level = grids - 1; level >= 0; --level) {
        CylinderGrid grid = last;
        for (auto* a : {&grid.R, &grid.z}) {
            a->step *= 1 << level;
            a->cells >>= level;
        }
        // The work grows with the number of cells and the iterations of the solver: 8 times from grid to grid.
        const double begin = level == grids - 1 ? 0 : std::pow(8., -level - 1), end = std::pow(8., -level);
        converge(grid, on, [&](double part) {
            if (progress) progress(begin + (end - begin) * part, "disks: density and potential");
        });
    }
}

void DiskStructure::converge(const CylinderGrid& grid, Cpu on, const std::function<void(double)>& progress) {
    std::vector<double> psi(grid.size()), before;
    for (std::size_t i = 0; i < grid.R.cells && !first_; ++i) {
        for (std::size_t j = 0; j < grid.z.cells; ++j) psi[i * grid.z.cells + j] = field_.psi(grid.R.centre(i), grid.z.centre(j));
    }
    for (auto& p : profile_) p.tabulate(grid.R);
    for (auto& c : columns_) c.column_.assign(grid.R.cells, {});
    CylinderPoisson poisson(grid);
    field_ = PlaneField(grid, psi, field_.outside());
    double change = 1;
    for (int iteration = 0;; ++iteration) {
        double moved = 0;
        for (std::size_t d = 0; d < size(); ++d) moved = std::max(moved, update(d, on));
        if (iteration > 0 && moved < tolerance && change < tolerance) break;
        if (iteration == iteration_limit) {
            throw ComputationError(
                fmt::format("the disks' density and potential do not converge: after {} iterations they still change by "
                            "{:.2g} and {:.2g}. Try a greater disk.height",
                            iteration, moved, change));
        }
        std::vector<double> mass(grid.size());
        for (std::size_t d = 0; d < size(); ++d) add_mass(d, grid, mass);
        before = psi;
        const Multipoles outside(grid, mass);
        solver_iterations_ += solve(poisson, mass, outside, psi);
        ++iterations_;
        change = 0;
        for (std::size_t k = 0; k < psi.size(); ++k) change = std::max(change, std::abs(psi[k] - before[k]) / psi[k]);
        field_ = PlaneField(grid, psi, outside);
        first_ = false;
        progress(std::min(1., std::log(std::max(change, 1e-300)) / std::log(tolerance)));
    }
    for (std::size_t d = 0; d < size(); ++d) tabulate(d);
}

void DiskStructure::add_mass(std::size_t disk, const CylinderGrid& grid, std::vector<double>& mass) const {
    const auto& profile = profile_[disk];
    for (std::size_t i = 0; i < grid.R.cells; ++i) {
        const double half = (profile.mass(grid.R.face(i + 1)) - profile.mass(grid.R.face(i))) / 2;
        if (!(half > 0)) continue;
        double below = 0;
        for (std::size_t j = 0; j < grid.z.cells && below < 1; ++j) {
            const double share = columns_[disk].share(i, grid.z.face(j + 1));
            mass[i * grid.z.cells + j] += half * (share - below);
            below = share;
        }
    }
}

PlaneField DiskStructure::own_field(std::size_t disk) const {
    if (size() == 1) return field_;
    const auto& grid = field_.grid();
    std::vector<double> mass(grid.size()), psi(grid.size());
    add_mass(disk, grid, mass);
    double all = 0;
    for (const auto& p : profile_) all += p.total();
    const double share = profile_[disk].total() / all;  // starts the iteration close to the solution
    for (std::size_t i = 0; i < grid.R.cells; ++i) {
        for (std::size_t j = 0; j < grid.z.cells; ++j) psi[i * grid.z.cells + j] = share * field_.psi(grid.R.centre(i), grid.z.centre(j));
    }
    const Multipoles outside(grid, mass);
    CylinderPoisson poisson(grid);
    solve(poisson, mass, outside, psi);
    return {grid, psi, outside};
}

DiskColumns::Column DiskStructure::column(const SurfaceProfile& profile, double R) const {
    DiskColumns::Column c;
    constexpr std::size_t n = DiskColumns::nodes;
    std::array<double, 2 * n - 1> density;  // at the nodes and midway between them; 1 in the plane
    const double step = DiskColumns::step, z_d = profile.height();
    const auto lone_sheet = [&] {  // an isolated sheet of the requested height; sech^2(z/z_0) has fallen by e at 1.085 z_0
        c.height = z_d;
        c.sigma_z2 = pi * profile(R) * z_d / 1.085;
        for (std::size_t k = 0; k < density.size(); ++k) {
            const double s = 1 / std::cosh(1.085 * std::sinh(step * static_cast<double>(k) / 2));
            density[k] = s * s;
        }
    };
    if (first_) {
        lone_sheet();  // there is no potential of the disks yet
    } else {
        const double plane = field_.psi(R, 0), spheres_plane = spheres_psi(R);
        const auto drop = [&](double z) { return plane - field_.psi(R, z) + (spheres_plane - spheres_psi(std::hypot(R, z))); };
        const double own = plane - field_.psi(R, z_d), spheres = spheres_plane - spheres_psi(std::hypot(R, z_d));
        c.sigma_z2 = std::max(own, 0.) + smooth_least(std::max(spheres, 0.), spheres_share * spheres_mass(R) / R);
        if (!(c.sigma_z2 > 0)) {
            lone_sheet();  // no force holds the column: the grid is still too coarse, or this is the hole of a ring
        } else {
            // Solves drop(height) = sigma_z^2 by bisection, then by secants.
            double low = 0, high = z_d, f_low = -c.sigma_z2, f_high = drop(z_d) - c.sigma_z2;
            c.height = z_d;
            for (int i = 0; i < 60 && f_high > 1e-10 * c.sigma_z2 && high - low > 1e-10 * z_d; ++i) {
                c.height = i % 3 == 0 ? (low + high) / 2 : low - f_low * (high - low) / (f_high - f_low);
                const double f = drop(c.height) - c.sigma_z2;
                (f > 0 ? high : low) = c.height;
                (f > 0 ? f_high : f_low) = f;
                if (std::abs(f) < 1e-10 * c.sigma_z2) break;
            }
            for (std::size_t k = 0; k < density.size(); ++k) {
                const double x = drop(c.height * std::sinh(step * static_cast<double>(k) / 2)) / c.sigma_z2;
                density[k] = std::exp(-x);
            }
        }
    }
    std::vector<double> share(n), slope(n);
    for (std::size_t k = 0; k < n; ++k) {
        // dz = height cosh t dt
        const auto weight = [&](std::size_t m) { return density[m] * std::cosh(step * static_cast<double>(m) / 2); };
        slope[k] = weight(2 * k);
        if (k > 0) share[k] = share[k - 1] + step / 6 * (weight(2 * k - 2) + 4 * weight(2 * k - 1) + weight(2 * k));
    }
    c.half_thickness = c.height * share.back();
    for (auto& s : slope) s /= share.back();
    const double all = share.back();
    for (auto& s : share) s /= all;
    c.share = UniformHermite(0, step, share, slope);
    return c;
}

double DiskStructure::update(std::size_t disk, Cpu on) {
    auto& columns = columns_[disk].column_;
    const auto& axis = field_.grid().R;
    const auto n = static_cast<index_t>(columns.size());
    const double edge = profile_[disk].edge();
    double moved = 0;
    const int threads = thread_count(on);
#pragma omp parallel for schedule(static) num_threads(threads) reduction(max : moved)
    for (index_t i = 0; i < n; ++i) {
        auto& old = columns[static_cast<std::size_t>(i)];
        const double R = axis.centre(static_cast<std::size_t>(i));
        auto fresh = column(profile_[disk], R);
        if (R < edge) {
            moved = std::max(moved, std::abs(old.half_thickness / fresh.half_thickness - 1));
            if (old.share.size() > 0) {
                for (const double t : {0.5, 1., 2.}) moved = std::max(moved, std::abs(old.share(t) - fresh.share(t)));
            }
        }
        old = std::move(fresh);
    }
    return moved;
}

void DiskStructure::tabulate(std::size_t disk) {
    auto& c = columns_[disk];
    std::vector<double> sigma_z2, height, half_thickness;
    for (const auto& column : c.column_) {
        sigma_z2.push_back(column.sigma_z2);
        height.push_back(column.height);
        half_thickness.push_back(column.half_thickness);
    }
    c.sigma_z2_ = LogRadialTable(axis(), sigma_z2);
    c.height_ = LogRadialTable(axis(), height);
    c.half_thickness_ = LogRadialTable(axis(), half_thickness);
}

double DiskStructure::psi(double R, double z) const { return field_.psi(R, z) + spheres_psi(std::hypot(R, z)); }

PlaneField::At DiskStructure::at(double R, double z) const {
    auto a = field_.at(R, z);
    const double r = std::hypot(R, z);
    if (r > 0 && spheres_) {
        const double pull = spheres_->mass(r) / (r * r * r);
        a.psi += spheres_->psi(r);
        a.d_R -= pull * R;
        a.d_z -= pull * z;
    }
    return a;
}

double DiskStructure::density(std::size_t disk, double R, double z) const {
    const double sigma = profile_[disk](R);
    if (sigma == 0) return 0;
    // Inside the first cell centre the column is that of the first centre.
    const double inside = std::max(R, axis().centre(0)), u = axis().index(inside);
    const auto& c = columns_[disk];
    const double height = c.height(u);
    if (std::abs(z) > DiskColumns::reach(height)) return 0;
    return sigma / (2 * c.half_thickness(u)) * std::exp(-(psi(inside, 0) - psi(inside, z)) / c.sigma_z2(u));
}

}  // namespace kasane::gravity
