// The engine of this process: from the environment variables that launchers set, and from the MPI plugin.
#include <kasane/core/base/error.hpp>
#include <kasane/core/comm/communicator.hpp>
#include <kasane/core/comm/module.hpp>
#include <kasane/core/comm/mpi_factory.hpp>
#include <kasane/core/comm/self.hpp>

#include <cstdlib>

namespace kasane::comm {
namespace {

/// A whole number in the environment; -1 where there is none.
int number_in(const char* variable) {
    const char* text = std::getenv(variable);
    if (!text || !*text) return -1;
    char* end = nullptr;
    const long value = std::strtol(text, &end, 10);
    return *end == '\0' && value >= 0 && value < 1 << 24 ? static_cast<int>(value) : -1;
}

/// Ranks that the launcher started, by its variables; 1: no launcher, or an unknown one.
int launched_ranks() {
    // Open MPI · MPICH, Intel MPI, Cray PALS, PMI-2 of Slurm · MVAPICH2 · a step of Slurm (not its batch script) · Flux
    for (const auto* variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS", "FLUX_JOB_SIZE"})
        if (const int ranks = number_in(variable); ranks > 0) return ranks;
    return 1;
}

/// Never destroyed: at the exit of the process the plugin ends the ranks in order.
Communicator& ranks_of_mpi() {
    const int launched = launched_ranks();
    const std::string started = launched > 1 ? "this process was started as one of " + std::to_string(launched) + " ranks"
                                             : "this process was started as a rank of MPI";
    KS_VALIDATE(!mpi_built_with().empty(), started +
                                               ", but this build of kasane has no MPI (none was found when it was configured); "
                                               "start one process, or install libopenmpi-dev and build again");
    static auto& ranks = *reinterpret_cast<MpiFactory*>(module_function("mpi", mpi_factory, Symbols::global))();
    KS_VALIDATE(launched == 1 || ranks.size() == launched, started + ", but " + ranks.engine() + " has " + std::to_string(ranks.size()) +
                                                               ": the launcher belongs to another MPI; use the mpirun of " +
                                                               mpi_built_with() + ", or KASANE_MPI=0 for processes apart");
    require_same(ranks, "builds of kasane", this_build());
    return ranks;
}

}  // namespace

void require_same(Communicator& ranks, const std::string& what, const std::string& here) {
    const auto all = ranks.all_gather(here);
    for (std::size_t r = 1; r < all.size(); ++r)
        KS_VALIDATE(all[r] == all[0], "the ranks have different " + what + ": rank 0 has " + all[0] + ", rank " + std::to_string(r) +
                                          " has " + all[r] + "; give all of them the same");
}

bool launched_with_ranks() {
    if (const int forced = number_in("KASANE_MPI"); forced >= 0) return forced > 0;
    return launched_ranks() > 1 || number_in("PMIX_RANK") > 0;
}

Communicator& world() {
    static auto& ranks = launched_with_ranks() ? ranks_of_mpi() : *alone().release();
    return ranks;
}

std::unique_ptr<Communicator> alone() { return std::make_unique<Self>(); }

std::string mpi_built_with() {
#if defined(KASANE_MPI_BUILT_WITH)
    return KASANE_MPI_BUILT_WITH;
#else
    return "";
#endif
}

std::string nccl_built_with() {
#if defined(KASANE_NCCL_BUILT_WITH)
    return KASANE_NCCL_BUILT_WITH;
#else
    return "";
#endif
}

}  // namespace kasane::comm
