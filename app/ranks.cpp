#include <app/lattice_batch.hpp>
#include <app/many_runs.hpp>
#include <app/ranks.hpp>
#include <app/solve_on_workers.hpp>
#include <kasane/core/base/error.hpp>
#include <kasane/core/comm/worker.hpp>
#include <kasane/core/io/checksum.hpp>
#include <kasane/core/io/json.hpp>
#include <kasane/run/driver/rank_coordinator.hpp>
#include <kasane/run/driver/run_texts.hpp>
#include <kasane/run/kinds.hpp>

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>

namespace kasane::app {
namespace {

/// The text of the run file that a word of the command names, or of the run directory that it names.
std::optional<std::string> run_file_text(const std::filesystem::path& word) {
    std::error_code ignored;
    if (word.extension() == ".toml") return run::content(word);
    return std::filesystem::is_directory(word, ignored) ? run::content(word / "run.toml") : std::nullopt;
}

/// The words that this rank was started with, and the checksums of the run files among them, as JSON.
std::string started_with(comm::Communicator& ranks, int argc, char** argv) {
    io::Json words = io::Json::array(), files = io::Json::object();
    for (int i = 1; i < argc; ++i) {
        words.push_back(argv[i]);
        if (const auto text = run_file_text(argv[i])) {
            io::Checksum sum;
            sum.add(text->data(), text->size());
            files[argv[i]] = fmt::format("{:016x}", sum.value());
        }
    }
    const io::Json all{{"host", ranks.host()}, {"words", words}, {"files", files}};
    return all.dump(-1, ' ', false, io::Json::error_handler_t::replace);
}

std::string command(const io::Json& rank) {
    std::string text = "kasane";
    for (const auto& word : rank["words"]) text += " " + word.get<std::string>();
    return text;
}

[[noreturn]] void end_all(comm::Communicator& ranks, const std::exception_ptr& thrown) {
    try {
        std::rethrow_exception(thrown);
    } catch (...) {
        int status = computation_failed;
        const auto reason = comm::reason_of_current_exception(status);
        comm::end_run(ranks, comm::rank_text(ranks), reason, status);
    }
}

/// Every rank executes the verb. The root rank reports an error that all ranks throw; a rank that throws alone ends the others, which wait.
int each(comm::Communicator& ranks, const Action& action, const std::function<int(std::exception_ptr)>& print_error) {
    constexpr double longest_wait = 3;  // [s] for the other ranks to throw the same error
    try {
        return action();
    } catch (...) {
        const auto thrown = std::current_exception();
        if (ranks.rank() > 0) {
            if (!ranks.all_here(longest_wait)) end_all(ranks, thrown);
            return success;
        }
        const int status = print_error(thrown);
        if (!ranks.all_here(longest_wait)) ranks.abort(status);
        return status;
    }
}

/// The root rank executes the verb, the other ranks are in the worker loop.
int led(comm::Communicator& ranks, Common& common, const Action& action, const std::function<int(std::exception_ptr)>& print_error) {
    if (ranks.rank() > 0) {
        try {
            catch_interrupts();  // the root rank saves the run and ends this loop
            run::worker_loop(ranks, run::kinds(),
                             {{lattice_solve_loop, run_lattice_solve_loop},
                              {lattice_measure_loop, run_lattice_measure_loop},
                              {lattice_batch_loop, run_lattice_batch_loop},
                              {many_runs_loop, run_many_runs_loop},
                              {solve_loop, run_solve_loop},
                              {complex_solve_loop, run_complex_solve_loop}});
        } catch (...) {
            end_all(ranks, std::current_exception());
        }
        return success;
    }
    try {
        run::RankCoordinator coordinator(ranks);
        common.ranks = &coordinator;
        return action();
    } catch (...) {
        return print_error(std::current_exception());
    }
}

}  // namespace

int rank_by_environment() {
    for (const char* variable : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "PMIX_RANK", "SLURM_PROCID", "FLUX_TASK_RANK"})
        if (const char* text = std::getenv(variable)) return std::atoi(text);
    return 0;
}

void compare_ranks(int argc, char** argv) {
    auto& ranks = comm::world();
    std::vector<io::Json> all;
    for (const auto& text : ranks.all_gather(started_with(ranks, argc, argv))) all.push_back(io::parse_json(text, "message of a rank"));
    for (std::size_t r = 1; r < all.size(); ++r)
        KS_VALIDATE(all[r]["words"] == all[0]["words"],
                    fmt::format("rank {} (host {}) was started with `{}`, and rank 0 with `{}`: give all ranks of a run the same command",
                                r, all[r]["host"].get<std::string>(), command(all[r]), command(all[0])));
    std::map<std::string, std::size_t> first;  // rank that can read a file
    for (std::size_t r = 0; r < all.size(); ++r)
        for (const auto& [file, sum] : all[r]["files"].items()) {
            const auto other = first.emplace(file, r).first->second;
            KS_VALIDATE(
                all[other]["files"][file] == sum,
                fmt::format("is another file for rank {} (host {}) than for rank {}: their checksums differ. Put it where all ranks "
                            "see the same, or start them in the same directory",
                            r, all[r]["host"].get<std::string>(), other),
                {file, 0, 0, ""});
        }
}

int on_ranks(const Verb& verb, Common& common, const Action& action, const std::function<int(std::exception_ptr)>& print_error) {
    auto& ranks = comm::world();
    switch (verb.on_ranks) {
        case OnRanks::led: return led(ranks, common, action, print_error);
        case OnRanks::each: return each(ranks, action, print_error);
        default:
            return print_error(std::make_exception_ptr(InputError(
                fmt::format("`kasane {}` runs on one rank, and {} were started: start it without mpirun", verb.name, ranks.size()))));
    }
}

}  // namespace kasane::app
