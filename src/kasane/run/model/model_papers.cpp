#include <kasane/run/model/model_papers.hpp>

#include <algorithm>

namespace kasane::run {
namespace {

/// Where a law comes from; null for tables and points.
const char* paper_of(const gravity::Law& law) {
    const struct {
        const char* operator()(const gravity::Plummer&) const { return "H. C. Plummer, MNRAS 71, 460 (1911) (Plummer sphere)"; }
        const char* operator()(const gravity::King&) const { return "I. R. King, AJ 71, 64 (1966) (King sphere)"; }
        const char* operator()(const gravity::Hernquist&) const { return "L. Hernquist, ApJ 356, 359 (1990) (Hernquist sphere)"; }
        const char* operator()(const gravity::Nfw&) const {
            return "J. F. Navarro, C. S. Frenk, S. D. M. White, ApJ 462, 563 (1996) (NFW sphere)";
        }
        const char* operator()(const gravity::Moore&) const {
            return "B. Moore, T. Quinn, F. Governato, J. Stadel, G. Lake, MNRAS 310, 1147 (1999) (Moore sphere)";
        }
        const char* operator()(const gravity::Burkert&) const { return "A. Burkert, ApJ 447, L25 (1995) (Burkert sphere)"; }
        const char* operator()(const gravity::Einasto&) const {
            return "J. Einasto, Trudy Inst. Astrofiz. Alma-Ata 5, 87 (1965) (Einasto sphere)";
        }
        const char* operator()(const gravity::Isothermal&) const {
            return "J. Binney, S. Tremaine, Galactic Dynamics, 2nd ed., Princeton (2008) (isothermal spheres)";
        }
        const char* operator()(const gravity::TwoPower&) const { return "H. Zhao, MNRAS 278, 488 (1996) (spheres of two powers)"; }
        const char* operator()(const gravity::TriplePower&) const { return nullptr; }
        const char* operator()(const gravity::Sersic&) const {
            return "J. L. Sersic, Atlas de Galaxias Australes, Cordoba (1968) (Sersic profile)";
        }
        const char* operator()(const gravity::SersicDisk&) const { return (*this)(gravity::Sersic{}); }
        const char* operator()(const gravity::ExponentialDisk&) const { return "K. C. Freeman, ApJ 160, 811 (1970) (exponential disks)"; }
        const char* operator()(const gravity::TabulatedDensity&) const { return nullptr; }
        const char* operator()(const gravity::TabulatedSurfaceDensity&) const { return nullptr; }
        const char* operator()(const gravity::TabulatedDisk&) const { return nullptr; }
        const char* operator()(const gravity::BlackHole&) const { return nullptr; }
    } paper;
    return std::visit(paper, law);
}

template <class Add>
void add_galaxy(const gravity::GalaxyModel& galaxy, Add add) {
    const auto& all = galaxy.components;
    const auto any = [&](auto&& is) { return std::any_of(all.begin(), all.end(), is); };
    for (const auto& c : all)
        if (const auto* paper = paper_of(c.law)) add(paper);
    if (any([](const auto& c) { return gravity::is_sphere(c.law); }))
        add("A. S. Eddington, MNRAS 76, 572 (1916) (isotropic distribution function)");
    if (any([](const auto& c) { return c.anisotropy_radius > 0; })) {
        add("L. P. Osipkov, Sov. Astron. Lett. 5, 42 (1979) (anisotropic distribution function)");
        add("D. Merritt, AJ 90, 1027 (1985) (anisotropic distribution function)");
    }
    if (any([](const auto& c) { return gravity::is_disk(c.law); })) {
        add("A. Toomre, ApJ 139, 1217 (1964) (stability of disks: Q)");
        add("W. Dehnen, AJ 118, 1201 (1999) (distribution function of a disk's motions)");
    }
    add("Y. Miki, M. Umemura, MNRAS 475, 2269 (2018) (MAGI: galaxies of many components in equilibrium)");
}

}  // namespace

std::vector<std::string> papers(const Initial& initial) {
    std::vector<std::string> all;
    const auto add = [&](const char* paper) {
        if (std::find(all.begin(), all.end(), paper) == all.end()) all.emplace_back(paper);
    };
    for (const auto& source : initial.sources) {
        if (source.file()) add("V. Springel, MNRAS 364, 1105 (2005) (GADGET-2: snapshot format and units)");
        if (const auto* galaxy = source.galaxy()) add_galaxy(*galaxy, add);
        if (source.tilt) add("A. Toomre, J. Toomre, ApJ 178, 623 (1972) (encounters: inclination and argument of pericentre)");
    }
    return all;
}

}  // namespace kasane::run
