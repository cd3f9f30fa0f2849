// The density of all disks of a galaxy in the potential of all components, iterated to self-consistency. [Miki & Umemura 2018, section 2.3]
//     rho(R, z) = Sigma(R) / (2 H(R)) exp(-(Psi(R, 0) - Psi(R, z)) / sigma_z^2(R)),   H = Int_0^inf exp(...) dz
//     sigma_z^2(R) = Psi(R, 0) - Psi(R, z_d)
// With sigma_z constant along a column this is the isothermal sheet: the vertical Jeans equation d(rho sigma_z^2)/dz = rho dPsi/dz holds
// exactly.
// Where spheres dominate and R < 3 z_d, this sigma_z would be a large part of the circular speed. Stars as far above the plane as from the
// axis do not move independently in R and z, which this model assumes. There the spheres' part of the drop, S(R, z_d), is limited to 1/25
// of their v_c^2(R), which makes the disk 0.29 R high (0.289 in a flat rotation curve, 0.292 around a point mass, 0.283 in a harmonic
// core). Tracers of M31 in the fixed potential then keep sigma_R inside 0.2 R_d within 8%; with 1/9 they heat by 20%.
// The disks' own part is not limited, because a thick self-gravitating disk is consistent.
// Grids of a quarter and half of the resolution give the starts of the iteration on the next finer grid.
// Units: G = 1. Radii below the first cell centre have the column of the first centre.
#pragma once

#include <kasane/core/base/progress.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/gravity/galaxy/component/component.hpp>
#include <kasane/gravity/galaxy/disk/plane_field.hpp>
#include <kasane/gravity/galaxy/disk/radial_table.hpp>
#include <kasane/gravity/galaxy/component/spherical_potential.hpp>

#include <functional>
#include <memory>
#include <vector>

namespace kasane::gravity {

/// Sigma(R) of one disk, normalised, and its mass inside cylinders.
class SurfaceProfile {
   public:
    SurfaceProfile() = default;
    explicit SurfaceProfile(const Component& disk);
    void tabulate(const StretchedAxis& axis);

    double operator()(double R) const { return R < edge_ ? normalisation_ * sigma_(R) : 0; }
    double log_slope(double R) const;  ///< d ln Sigma / d ln R
    double total() const { return total_; }
    double edge() const { return edge_; }                          ///< the mass beyond it, less than 1e-9, is left out [length]
    double inner() const { return inner_; }                        ///< radius that encloses 1% of the mass [length]
    double height() const { return height_; }                      ///< z_d [length]
    double mass(double R) const;                                   ///< mass inside the cylinder R; valid after tabulate()
    const UniformHermite& mass_by_index() const { return mass_; }  ///< mass inside the cylinder as a function of the index on the axis
   private:
    std::function<double(double)> sigma_, slope_;
    double normalisation_ = 1, total_ = 0, edge_ = 0, inner_ = 0, height_ = 0;
    StretchedAxis axis_;
    UniformHermite mass_;
};

/// The columns of one disk on the R axis of the grid.
class DiskColumns {
   public:
    static constexpr std::size_t nodes = 41;  ///< nodes in t = asinh(z / height)
    static constexpr double step = 0.097;     ///< step in t; at the last node, z = 24 heights, a self-gravitating sheet has exp(-48)

    double sigma_z2(double u) const { return sigma_z2_(u); }
    const LogRadialTable& sigma_z2_table() const { return sigma_z2_; }
    double height(double u) const { return height_(u); }                  ///< height where the density has fallen by e [length]
    double half_thickness(double u) const { return half_thickness_(u); }  ///< H [length]
    static double reach(double height) { return height * std::sinh(step * static_cast<double>(nodes - 1)); }
    /// Height below which column i has the fraction q (0 to 1) of its upper half [length].
    double height_of_share(std::size_t column, double q) const;
    /// Fraction of column i's upper half below z.
    double share(std::size_t column, double z) const;

   private:
    friend class DiskStructure;
    struct Column {
        double sigma_z2 = 0, height = 0, half_thickness = 0;
        UniformHermite share;  // as a function of t
    };
    std::vector<Column> column_;
    LogRadialTable sigma_z2_, height_, half_thickness_;
};

/// Resolution of the last grid.
struct DiskResolution {
    double R_step = 1. / 40;  ///< of asinh(R / core): cells of R/40 outside the core
    double z_step = 1. / 16;  ///< cells of z_d / 16 at the plane
};

class DiskStructure {
   public:
    /// @throws ComputationError: the iteration does not converge
    DiskStructure(const GalaxyModel& model, std::shared_ptr<const SphericalPotential> spheres, Cpu on, const ProgressFunction& progress,
                  const DiskResolution& resolution = {});

    std::size_t size() const { return profile_.size(); }
    const SurfaceProfile& profile(std::size_t disk) const { return profile_[disk]; }
    const DiskColumns& columns(std::size_t disk) const { return columns_[disk]; }
    const StretchedAxis& axis() const { return field_.grid().R; }

    double density(std::size_t disk, double R, double z) const;
    double disks_psi(double R, double z) const { return field_.psi(R, z); }
    const PlaneField& field() const { return field_; }                    ///< of all disks
    const SphericalPotential* spheres() const { return spheres_.get(); }  ///< null: none
    /// Field and potential of all disks and spheres.
    PlaneField::At at(double R, double z) const;
    double psi(double R, double z) const;
    double spheres_mass(double r) const { return spheres_ ? spheres_->mass(r) : 0; }
    /// The potential of one disk alone; the fields of all disks add up to disks_psi to within the tolerance of the iteration. Solves
    /// Poisson's equation where there are several disks. @throws ComputationError
    PlaneField own_field(std::size_t disk) const;

    int iterations() const { return iterations_; }
    int solver_iterations() const { return solver_iterations_; }

   private:
    double spheres_psi(double r) const { return spheres_ ? spheres_->psi(r) : 0; }
    DiskColumns::Column column(const SurfaceProfile& profile, double R) const;
    /// Computes the columns in the present field. @return the largest relative change of a thickness or share
    double update(std::size_t disk, Cpu on);
    void tabulate(std::size_t disk);
    /// Adds the mass of a disk in the cells of the half space z > 0; the columns are on the grid's R axis.
    void add_mass(std::size_t disk, const CylinderGrid& grid, std::vector<double>& mass) const;
    void converge(const CylinderGrid& grid, Cpu on, const std::function<void(double)>& progress);

    std::shared_ptr<const SphericalPotential> spheres_;
    std::vector<SurfaceProfile> profile_;
    std::vector<DiskColumns> columns_;
    PlaneField field_;
    bool first_ = true;
    int iterations_ = 0, solver_iterations_ = 0;
};

}  // namespace kasane::gravity
