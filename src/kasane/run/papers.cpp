#include <kasane/run/papers.hpp>

#include <algorithm>

namespace kasane::run {
namespace {

template <class Add>
void add_tree(const gravity::Tree& tree, Add add) {
    add("J. Barnes, P. Hut, Nature 324, 446 (1986) (tree code)");
    add("[OMBMN12] G. Ogiya, Y. Miki, T. Boku, M. Mori, N. Nakasato, A parallel GPU tree code for self-gravitating systems (in Japanese), "
        "2012 (walk, geometric criterion)");
    add("Y. Miki, M. Umemura, New Astron. 52, 65 (2017) (GOTHIC: acceleration criterion, hierarchical time steps)");
    add("[Miki21] Y. Miki, NVIDIA A100 and new features of CUDA 11 (in Japanese), 2021 (GOTHIC on recent GPUs)");
    if (std::holds_alternative<gravity::MultipoleMac>(tree.mac))
        add("M. S. Warren, J. K. Salmon, A parallel hashed oct-tree N-body algorithm, Supercomputing '93 (1993) (error bound of a cell)");
    if (tree.curve == gravity::Curve::hilbert) add("D. Hilbert, Math. Ann. 38, 459 (1891) (the curve that orders the particles)");
}

}  // namespace

std::vector<std::string> papers(const RunFile& file) {
    std::vector<std::string> all;
    const auto add = [&](const char* paper) {
        if (std::find(all.begin(), all.end(), paper) == all.end()) all.emplace_back(paper);
    };
    if (const auto* tree = std::get_if<gravity::Tree>(&file.force))
        add_tree(*tree, add);
    else
        add("[MTM13] Y. Miki, D. Takahashi, M. Mori, Performance and scalability of an N-body code on a large GPU cluster (in Japanese), "
            "2013 (direct summation)");
    add("L. Verlet, Phys. Rev. 159, 98 (1967) (leapfrog)");
    if (std::holds_alternative<gravity::BlockSteps>(file.steps))
        add("S. L. W. McMillan, in The Use of Supercomputers in Stellar Dynamics (1986), 156 (block steps)");
    if (gravity::softening(file.force) > 0) add("S. J. Aarseth, MNRAS 126, 223 (1963) (Plummer softening)");
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
