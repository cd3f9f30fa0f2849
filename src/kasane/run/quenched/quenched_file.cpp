#include <kasane/run/driver/run_keys.hpp>
#include <kasane/run/gauge/gauge_workers.hpp>
#include <kasane/run/quenched/quenched_file.hpp>

namespace kasane::run {
namespace {

void read_lattice(io::Section table, QuenchedFile& file) {
    read_extents(table, file);
    file.boundary =
        table.text("boundary", {.help = "of the quarks in time, only written to record.json: links are periodic and have no sign",
                                .fallback = "periodic",
                                .choices = {"periodic", "antiperiodic"}});
}

void read_update(io::Section table, QuenchedFile& file) {
    file.sweeps = table.integer(
        "sweeps", {.help = "in all; each is one sweep of heatbath and then those of overrelaxation", .least = 1, .most = most_updates});
    read_thermalisation(table, "update", "sweeps", file.sweeps, file);
    file.overrelaxation = static_cast<int>(table.integer(
        "overrelaxation", {.help = "sweeps of overrelaxation after one of heatbath", .fallback = 4, .least = 0, .most = 1000}));
    file.seed = read_seed(table, "of the updates");
}

void read_output(io::Section table, QuenchedFile& file) {
    file.directory = read_output_directory(table);
    read_configurations(table, "sweeps", file);
    file.measure_every =
        table.integer("measure_every", {.help = "sweeps between measurements", .fallback = 1, .least = 1, .most = most_updates});
    read_intervals(table, "sweep", file);
}

/// The papers of the methods.
std::vector<std::string> papers(const QuenchedFile& file) {
    std::vector<std::string> all{"K. G. Wilson, Phys. Rev. D 10, 2445 (1974) (the gauge action)",
                                 "N. Cabibbo, E. Marinari, Phys. Lett. B 119, 387 (1982) (heatbath by SU(2) subgroups)",
                                 "A. D. Kennedy, B. J. Pendleton, Phys. Lett. B 156, 393 (1985) (heatbath of SU(2))"};
    if (file.overrelaxation > 0) {
        all.emplace_back("M. Creutz, Phys. Rev. D 36, 515 (1987) (overrelaxation)");
        all.emplace_back("F. R. Brown, T. J. Woch, Phys. Rev. Lett. 58, 2394 (1987) (overrelaxation)");
    }
    all.emplace_back("U. Wolff, Comput. Phys. Commun. 156, 143 (2004) (errors of correlated measurements)");
    if (file.start.kind == StartKind::weak)
        all.emplace_back(
            "[Ish09] K.-I. Ishikawa, Prospects of lattice QCD on GPUs (in Japanese), talk, University of Tsukuba, 2009 (the start U = "
            "exp(i epsilon "
            "P))");
    return all;
}

}  // namespace

QuenchedFile read_quenched_file(const RunSource& source) {
    io::RunFileReader reader(source.path, source.settings);
    auto root = reader.root();
    QuenchedFile file;
    auto parallel = root.table("parallel", "several GPUs and ranks");
    const int workers = read_workers(reader, parallel, "quenched", source, file);
    read_lattice(root.table("lattice", "periodic in all directions"), file);
    read_grid(parallel, workers, file);
    read_start(root.table("start", "the links before the first sweep"), !source.from, file);
    auto action = root.table("action", "S = beta sum over plaquettes of (1 - Re tr U / 3)");
    file.beta = action.number("beta", {.help = "6 / g^2", .range = io::above(0)});
    read_update(root.table("update", "Cabibbo-Marinari heatbath and overrelaxation"), file);
    read_output(root.table("output", "what is written"), file);
    finish(reader, file);
    file.papers = papers(file);
    return file;
}

}  // namespace kasane::run
