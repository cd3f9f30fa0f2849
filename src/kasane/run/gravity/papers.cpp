#include <kasane/run/gravity/papers.hpp>
#include <kasane/run/model/model_papers.hpp>

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

std::vector<std::string> papers(const GravityFile& file) {
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
    if (gravity::softening_kernel(file.force) == gravity::SofteningKernel::spline)
        add("V. Springel, MNRAS 364, 1105 (2005) (spline softening)");
    else if (is_softened(file.force, file.softening))
        add("S. J. Aarseth, MNRAS 126, 223 (1963) (Plummer softening)");
    for (const auto& paper : papers(file.initial)) add(paper.c_str());
    return all;
}

}  // namespace kasane::run
