#include <bench/sparse/peers/amgcl.hpp>
#include <bench/sparse/peers/eigen.hpp>
#include <bench/sparse/peers/matrix_peers.hpp>
#include <bench/sparse/processor_clock.hpp>
#include <kasane/core/base/error.hpp>
#include <kasane/core/base/timer.hpp>
#include <kasane/core/io/json.hpp>

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string_view>

#include <unistd.h>

namespace kasane::bench {
namespace {

using Report = std::function<void(const PeerSolve&)>;

#if defined(KASANE_PEER_EIGEN)
template <class Solver>
void by_eigen(const std::string& name, const EigenRows& A, const PeerProblem& problem, const Report& report) {
    PeerSolve out;
    out.name = "Eigen " + name;
    out.version = eigen_version();
    Solver solver;
    solver.setTolerance(problem.rtol);
    solver.setMaxIterations(10000);
    const ProcessorClock clock;
    Stopwatch watch;
    solver.compute(A);
    out.setup_seconds = watch.seconds();
    if (solver.info() != Eigen::Success) {
        out.failure = "the preconditioner failed";
    } else {
        const Eigen::Map<const Eigen::VectorXd> b(problem.b.data(), A.rows());
        watch.restart();
        const Eigen::VectorXd x = solver.solve(b);
        out.solve_seconds = watch.seconds();
        out.processor_seconds = clock.seconds();
        out.iterations = static_cast<double>(solver.iterations());
        out.true_residual = (b - A * x).norm() / b.norm();
    }
    report(out);
}

void solve_with_eigen(const PeerProblem& problem, Cpu on, const Report& report) {
    Eigen::setNbThreads(thread_count(on));
    const EigenRows A = eigen_rows(problem.matrix);
    if (problem.symmetric) {
        constexpr auto both = Eigen::Lower | Eigen::Upper;
        by_eigen<Eigen::ConjugateGradient<EigenRows, both, Eigen::DiagonalPreconditioner<double>>>("cg, diagonal", A, problem, report);
        by_eigen<Eigen::ConjugateGradient<EigenRows, both, Eigen::IncompleteCholesky<double>>>("cg, ic", A, problem, report);
    } else {
        by_eigen<Eigen::BiCGSTAB<EigenRows, Eigen::DiagonalPreconditioner<double>>>("bicgstab, diagonal", A, problem, report);
        by_eigen<Eigen::BiCGSTAB<EigenRows, Eigen::IncompleteLUT<double, std::int32_t>>>("bicgstab, ilut", A, problem, report);
    }
}
#endif

#if defined(KASANE_PEER_PETSC)
namespace fs = std::filesystem;

/// A system in the file that kasane_petsc reads; removed at the end.
class SystemFile {
   public:
    explicit SystemFile(const PeerProblem& problem)
        : name_(fs::temp_directory_path() / ("kasane-petsc-" + std::to_string(::getpid()) + ".system")) {
        std::ofstream file(name_, std::ios::binary);
        const auto& A = problem.matrix;
        const std::vector<std::int64_t> head{A.rows(), A.nonzeros()};
        const std::vector<std::int32_t> begin(A.begin.begin(), A.begin.end());
        const auto write = [&](const auto& some) {
            file.write(reinterpret_cast<const char*>(some.data()), static_cast<std::streamsize>(some.size() * sizeof(some[0])));
        };
        write(head), write(begin), write(A.column), write(A.value), write(problem.b);
        file.close();
        if (!file) {
            remove();
            throw ComputationError(name_.string() + " cannot be written: the PETSc peers need space there");
        }
    }
    SystemFile(const SystemFile&) = delete;
    SystemFile& operator=(const SystemFile&) = delete;
    ~SystemFile() { remove(); }
    const fs::path& name() const { return name_; }

   private:
    void remove() const {
        std::error_code ignored;
        fs::remove(name_, ignored);
    }
    fs::path name_;
};

/// What a command prints; empty where it fails.
std::string output_of(const std::string& command) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(::popen(command.c_str(), "r"), ::pclose);
    std::string text;
    std::array<char, 4096> some{};
    if (pipe)
        while (std::fgets(some.data(), static_cast<int>(some.size()), pipe.get())) text += some.data();
    return text;
}

void solve_with_petsc(const PeerProblem& problem, Cpu on, const Report& report) {
    const SystemFile system(problem);
    std::error_code error;
    const auto program = fs::read_symlink("/proc/self/exe", error).parent_path() / "kasane_petsc";
    // The norm of the true residual decides, as in kasane; ranks have one block of an incomplete factorisation each.
    const std::string cg = "-ksp_type cg -ksp_norm_type unpreconditioned ", bcgs = "-ksp_type bcgs -ksp_pc_side right ";
    const std::string hypre =
        "-pc_type hypre -pc_hypre_boomeramg_coarsen_type HMIS -pc_hypre_boomeramg_interp_type ext+i "
        "-pc_hypre_boomeramg_P_max 4 -pc_hypre_boomeramg_strong_threshold 0.25";
    const std::vector<std::pair<std::string, std::string>> methods =
        problem.symmetric
            ? std::vector<std::pair<std::string, std::string>>{{"PETSc cg, jacobi", cg + "-pc_type jacobi"},
                                                               {"PETSc cg, icc in blocks", cg + "-pc_type bjacobi -sub_pc_type icc"},
                                                               {"PETSc cg, gamg", cg + "-pc_type gamg"},
                                                               {"hypre cg, BoomerAMG", cg + hypre}}
            : std::vector<std::pair<std::string, std::string>>{{"PETSc bcgs, ilu in blocks", bcgs + "-pc_type bjacobi -sub_pc_type ilu"},
                                                               {"PETSc bcgs, gamg", bcgs + "-pc_type gamg"},
                                                               {"hypre bcgs, BoomerAMG", bcgs + hypre}};
    for (const auto& [name, options] : methods) {
        PeerSolve out;
        out.name = name;
        const auto text = output_of(fmt::format(
            "timeout {:.0f} env OMP_NUM_THREADS=1 {} {} '{}' '{}' -ksp_rtol {} -ksp_max_it 10000 {} 2>/dev/null", problem.seconds_limit,
            KASANE_PEER_PETSC, thread_count(on), program.string(), system.name().string(), problem.rtol, options));
        io::Json found;
        try {
            found = io::parse_json(std::string_view(text).substr(std::min(text.find('{'), text.size())), program);
        } catch (const InputError&) {  // the program ended without a result
        }
        if (found.is_null()) {
            out.failure = fmt::format("no solution within {:.0f} s, or the program failed", problem.seconds_limit);
        } else {
            out.version = "PETSc " + found.at("version").get<std::string>();
            out.setup_seconds = found.at("setup_seconds");
            out.solve_seconds = found.at("solve_seconds");
            out.processor_seconds = found.at("processor_seconds");
            out.bytes = found.at("bytes");
            out.iterations = found.at("iterations");
            out.true_residual = found.at("true_residual").is_number() ? found.at("true_residual").get<double>() : NAN;
            if (found.at("reason") < 0) out.failure = fmt::format("did not converge, reason {}", found.at("reason").get<int>());
        }
        report(out);
    }
}
#endif

}  // namespace

double relative_residual(const sparse::CsrMatrix& A, const std::vector<double>& b, const std::vector<double>& x) {
    double r2 = 0, b2 = 0;
    for (std::size_t i = 0; i < b.size(); ++i) {
        double r = b[i];
        for (auto e = static_cast<std::size_t>(A.begin[i]); e < static_cast<std::size_t>(A.begin[i + 1]); ++e)
            r -= A.value[e] * x[static_cast<std::size_t>(A.column[e])];
        r2 += r * r, b2 += b[i] * b[i];
    }
    return std::sqrt(r2 / b2);
}

void solve_with_peers(const PeerProblem& problem, Cpu on, const Report& report) {
#if defined(KASANE_PEER_EIGEN)
    solve_with_eigen(problem, on, report);
#endif
    solve_with_amgcl(problem, on, report);
#if defined(KASANE_PEER_PETSC)
    solve_with_petsc(problem, on, report);
#endif
}

}  // namespace kasane::bench
