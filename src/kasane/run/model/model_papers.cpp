#include <kasane/run/model/model_papers.hpp>

#include <algorithm>
#include <utility>

namespace kasane::run {
namespace {

/// The source of a law by its name; null for tables, points and spheres of three powers.
const char* paper_of(const std::string& law) {
    static constexpr std::pair<const char*, const char*> papers[] = {
        {"plummer", "H. C. Plummer, MNRAS 71, 460 (1911) (Plummer sphere)"},
        {"king", "I. R. King, AJ 71, 64 (1966) (King sphere)"},
        {"hernquist", "L. Hernquist, ApJ 356, 359 (1990) (Hernquist sphere)"},
        {"nfw", "J. F. Navarro, C. S. Frenk, S. D. M. White, ApJ 462, 563 (1996) (NFW sphere)"},
        {"moore", "B. Moore, T. Quinn, F. Governato, J. Stadel, G. Lake, MNRAS 310, 1147 (1999) (Moore sphere)"},
        {"burkert", "A. Burkert, ApJ 447, L25 (1995) (Burkert sphere)"},
        {"einasto", "J. Einasto, Trudy Inst. Astrofiz. Alma-Ata 5, 87 (1965) (Einasto sphere)"},
        {"isothermal", "J. Binney, S. Tremaine, Galactic Dynamics, 2nd ed., Princeton (2008) (isothermal spheres)"},
        {"two-power", "H. Zhao, MNRAS 278, 488 (1996) (spheres of two powers)"},
        {"sersic", "J. L. Sersic, Atlas de Galaxias Australes, Cordoba (1968) (Sersic profile)"},
        {"sersic-disk", "J. L. Sersic, Atlas de Galaxias Australes, Cordoba (1968) (Sersic profile)"},
        {"exponential-disk", "K. C. Freeman, ApJ 160, 811 (1970) (exponential disks)"}};
    for (const auto& [name, paper] : papers)
        if (law == name) return paper;
    return nullptr;
}

template <class Add>
void add_galaxy(const gravity::GalaxyModel& galaxy, Add add) {
    const auto& all = galaxy.components;
    const auto any = [&](auto&& is) { return std::any_of(all.begin(), all.end(), is); };
    for (const auto& c : all)
        if (const auto* paper = paper_of(gravity::name(c.law))) add(paper);
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
