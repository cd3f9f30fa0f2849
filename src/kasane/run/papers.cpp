#include <kasane/run/papers.hpp>

#include <algorithm>

namespace kasane::run {

std::vector<std::string> papers(const RunFile& file) {
    std::vector<std::string> all{
        "[MTM13] Y. Miki, D. Takahashi, M. Mori, Performance and scalability of an N-body code on a large GPU cluster (in Japanese), "
        "2013 (direct summation)",
        "L. Verlet, Phys. Rev. 159, 98 (1967) (leapfrog)",
    };
    const auto add = [&](const char* paper) {
        if (std::find(all.begin(), all.end(), paper) == all.end()) all.emplace_back(paper);
    };
    if (file.force.softening > 0) add("S. J. Aarseth, MNRAS 126, 223 (1963) (Plummer softening)");
    for (const auto& source : file.initial.sources) {
        if (!source.file.empty()) {
            add("V. Springel, MNRAS 364, 1105 (2005) (GADGET-2: snapshot format and units)");
            continue;
        }
        if (source.count == 1) continue;
        switch (source.object.model.kind) {
            case gravity::ModelKind::plummer:
                add("H. C. Plummer, MNRAS 71, 460 (1911) (Plummer sphere)");
                add("S. J. Aarseth, M. Henon, R. Wielen, A&A 37, 183 (1974) (its sampling)");
                break;
            case gravity::ModelKind::hernquist: add("L. Hernquist, ApJ 356, 359 (1990) (Hernquist sphere)"); break;
            case gravity::ModelKind::nfw: add("J. F. Navarro, C. S. Frenk, S. D. M. White, ApJ 462, 563 (1996) (NFW sphere)"); break;
            case gravity::ModelKind::uniform:
            case gravity::ModelKind::cold: break;
        }
        if (source.object.model.kind == gravity::ModelKind::hernquist || source.object.model.kind == gravity::ModelKind::nfw)
            add("A. S. Eddington, MNRAS 76, 572 (1916) (isotropic distribution function)");
    }
    return all;
}

}  // namespace kasane::run
