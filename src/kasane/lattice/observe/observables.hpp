// Gluonic observables, on any space. All sums are in double and do not depend on the number of threads.
#pragma once

#include <kasane/lattice/links.hpp>

#include <complex>
#include <functional>
#include <vector>

namespace kasane::lattice {

/// Mean Re tr U_plaquette / 3.
struct Plaquette {
    double space = 0;  ///< of the planes xy, xz, yz
    double time = 0;   ///< of the planes xt, yt, zt
    /// The mean of all planes.
    double mean() const { return (space + time) / 2; }
};
/// The mean plaquette of links on a space.
template <Space S>
Plaquette plaquette(const Links<S>& u);
/// The mean plaquette of links of the host. @throws LogicError: the number of links is not that of the lattice
Plaquette plaquette(const GaugeField& u);

/// Mean Re tr U / 3 over all links: LINK_TRACE of NERSC files. @throws LogicError as plaquette()
double link_trace(const GaugeField& u);
/// Does the same for links on a space.
template <Space S>
double link_trace(const Links<S>& u);

/// Polyakov loop: the mean over space of tr prod_t U_t / 3.
template <Space S>
std::complex<double> polyakov_loop(const Links<S>& u);

/// Topological charge Q = -sum_x eps_mnrs tr F_mn F_rs / (32 pi^2), eps_xyzt = +1, with the traceless part of the clover-leaf F
/// (anti-Hermitian, hence the sign): an integer in the continuum, near one on smooth fields, positive where F_xy = F_zt.
template <Space S>
double topological_charge(const Links<S>& u);

/// Energy density E = sum_{m<n} -tr F_mn F_mn averaged over sites, with the same F.                                    [Luscher 2010,
/// arXiv:1006.4518]
template <Space S>
double energy_density(const Links<S>& u);

/// Observables at one flow time.
struct FlowPoint {
    double t = 0;              ///< flow time, a^2
    double t2E = 0;            ///< t^2 E, clover
    double t2E_plaquette = 0;  ///< t^2 E, E = 2 sum_plaquettes Re tr (1 - U) per site
    double charge = 0;         ///< Q
};
/// Integrates the Wilson flow of u in place up to t_max in steps of `step`, or a little shorter ones where t_max is not a multiple of it
/// (third-order Runge-Kutta, [Luscher 2010, app. C]); a point every `every` steps, the first at t = 0, and at t_max. Takes the memory of a
/// second field.
/// @param stop  called before every step; if it returns true, the flow ends there, with the points up to then; may be empty
/// @throws InputError with the name of the argument as the key unless step > 0, t_max >= 0, both finite, and every >= 1
template <Space S>
std::vector<FlowPoint> wilson_flow(Links<S>& u, double t_max, double step, int every = 1, const std::function<bool()>& stop = {});

/// t0 with t^2 E = 0.3 by linear interpolation of the points; NaN where they do not reach it.
double flow_scale_t0(const std::vector<FlowPoint>& points);

}  // namespace kasane::lattice
