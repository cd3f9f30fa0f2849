// `run`, `check`, `report` and `resume` of a Poisson problem: what they compute, write and promise.
#include <kasane/core/io/hdf5.hpp>
#include <kasane/run/poisson/poisson_output.hpp>

#include <gtest/gtest.h>
#include <test/reference/box_poisson.hpp>
#include <test/run/command.hpp>
#include <test/report/markup.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>
#include <regex>
#include <tuple>

namespace {

using namespace kasane;
using test::read_file;
namespace fs = std::filesystem;
using json = nlohmann::json;
using std::size_t;

class Poisson : public test::CommandTest {
   protected:
    /// The paper's problem on n^3 cells, on one thread.
    void problem(int n, const std::string& more_solver = "", const std::string& more = "",
                 const std::string& source = "formula = 'i + j + k'") {
        test::write_file(directory / "box.toml",
                         "[run]\nproblem = 'poisson'\ntitle = 'A box'\ndevice = 'cpu'\nthreads = 1\n[grid]\ncells = [" + std::to_string(n) +
                             ", " + std::to_string(n) + ", " + std::to_string(n) + "]\n[source]\n" + source +
                             "\n[solver]\nordering = 'cm-rcm:8'\ntune = false\n" + more_solver + "[output]\ndirectory = 'out'\n" + more);
    }
    std::vector<double> potential(const std::string& run = "out") {
        return hdf5::File::open(directory / run / "solution.hdf5").read_array<double>("/Potential");
    }
    std::vector<fs::path> checkpoints(const std::string& run = "out") {
        std::vector<fs::path> all;
        for (const auto& entry : fs::directory_iterator(directory / run / "checkpoints"))
            if (entry.path().extension() == ".hdf5") all.push_back(entry.path());  // no ".name.hdf5.tmp"
        std::sort(all.begin(), all.end());
        return all;
    }
    /// Starts a solve of some hundred slow iterations, and leaves it when it iterates.
    Process started(const std::vector<std::string>& more = {}) {
        problem(48, "precondition = 'none'\nrtol = 1e-9\n");
        std::vector<std::string> arguments{"run", "box.toml"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        auto process = start(arguments);
        EXPECT_TRUE(wait_for([&] { return read_file(directory / "out/log.txt").find("set up in") != std::string::npos; }));
        return process;
    }
};

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
    double largest = 0;
    for (size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
    return a.size() == b.size() ? largest : std::numeric_limits<double>::infinity();
}

/// The source i + j + k on n^3 unit cells, solved by cosine transforms.
std::vector<double> oracle(size_t n) {
    std::vector<double> b;
    for (size_t row = 0; row < n * n * n; ++row) b.push_back(static_cast<double>(row % n + row / n % n + row / n / n + 3));
    return reference::solve({.nx = n, .ny = n, .nz = n}, b);
}

TEST_F(Poisson, SolvesThePapersProblemAndWritesItsDirectory) {
    problem(32);
    const auto outcome = kasane({"run", "box.toml", "--json"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto result = outcome.json();
    EXPECT_EQ(result["directory"], "out");
    EXPECT_EQ(result["status"], "done");
    EXPECT_EQ(result["n"], 32768);
    EXPECT_EQ(result["nonzeros"], 7 * 32768 - 6 * 1024);
    EXPECT_EQ(result["ordering"], "cm-rcm:8");
    EXPECT_EQ(result["colors"], 8);
    EXPECT_NEAR(result["iterations"].get<int>(), 88, 2);
    EXPECT_TRUE(result["converged"]);
    EXPECT_LE(result["relative_residual"], 1e-7);
    for (const char* key : {"setup_seconds", "solve_seconds", "seconds"}) EXPECT_GT(result[key], 0) << key;
    for (const char* name : {"run.toml", "log.txt", "record.json", "report.html", "solution.hdf5", "solution.xmf"})
        EXPECT_TRUE(fs::is_regular_file(directory / "out" / name)) << name;
    EXPECT_FALSE(fs::exists(directory / "out/snapshots"));
    EXPECT_TRUE(checkpoints().empty());

    const auto phi = potential();
    const auto exact = oracle(32);
    // The residual is 1e-8 of b; the operator's condition number is about (2 n / pi)^2 = 400, and b is smooth.
    EXPECT_LT(largest_difference(phi, exact), 1e-6 * exact[0]);
    EXPECT_NEAR(phi.front(), reference::linear_source[0].first, 1e-6 * reference::linear_source[0].first);
    EXPECT_NEAR(phi.back(), reference::linear_source[0].last, 1e-6 * reference::linear_source[0].last);

    const auto record = json::parse(read_file(directory / "out/record.json"));
    EXPECT_EQ(record["problem"], "poisson");
    EXPECT_EQ(record["status"], "done");
    EXPECT_EQ(record["solve"]["iterations"], result["iterations"]);
    EXPECT_EQ(record["setup"]["color_sizes"], json(std::vector<int>(8, 4096)));
    EXPECT_NEAR(record["potential"]["greatest"].get<double>(), *std::max_element(phi.begin(), phi.end()), 0);
    EXPECT_EQ(record["boundary"]["z_max"], (json{{"dirichlet", 0.0}}));
    EXPECT_EQ(record["segments"].size(), 1u);
    bool names_the_paper = false;
    for (const auto& paper : record["papers"]) names_the_paper |= paper.get<std::string>().starts_with("[HOHNI17]");
    EXPECT_TRUE(names_the_paper);

    // What was written reads back whole, and a second run of the resolved file computes the same bits.
    const auto solution = run::read_solution(directory / "out/solution.hdf5");
    EXPECT_EQ(solution.potential, phi);
    EXPECT_EQ(solution.history.back().iteration, result["iterations"]);
    EXPECT_EQ(solution.history.front().relative, 1);
    ASSERT_EQ(kasane({"run", "out/run.toml", "-o", "again", "--quiet"}).status, 0);
    EXPECT_EQ(potential("again"), phi);
}

TEST_F(Poisson, TensorsByFormulasAndFromFiles) {
    // phi = x y z + 2 x with K = [[2, x, 0], [x, 3, 0], [0, 0, z + 1]] in a box of uneven cells: the scheme's own solution is compared
    // between formulas, file and preconditioners, and with phi to the order of the scheme.
    const std::string faces =
        "[boundary]\nx_min = { dirichlet = 'x*y*z + 2*x' }\nx_max = { dirichlet = 'x*y*z + 2*x' }\n"
        "y_min = { dirichlet = 'x*y*z + 2*x' }\ny_max = { dirichlet = 'x*y*z + 2*x' }\n"
        "z_min = { dirichlet = 'x*y*z + 2*x' }\nz_max = { dirichlet = 'x*y*z + 2*x' }\n";
    test::write_file(directory / "box.toml",
                     "[run]\nproblem = 'poisson'\ndevice = 'cpu'\nthreads = 2\n[grid]\ncells = [16, 12, 8]\n"
                     "spacing = [0.0625, 0.08, 0.125]\n" +
                         faces +
                         "[coefficient]\nxx = 2\nxy = 'x'\nyy = 3.0\nzz = 'z + 1'\n"
                         // -div(K grad phi): grad phi = (y z + 2, x z, x y)
                         "[source]\nformula = '-(2*x*z + x*z + x*y)'\n"
                         "[solver]\nrtol = 1e-11\ntune = false\n[output]\ndirectory = 'out'\n");
    const auto outcome = kasane({"run", "box.toml", "--json"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto [nx, ny, nz] = std::tuple{16, 12, 8};
    EXPECT_EQ(outcome.json()["nonzeros"], (3 * nx - 2) * (3 * ny - 2) * nz + nx * ny * (2 * nz - 2));
    const auto phi = potential();
    const auto file = hdf5::File::open(directory / "out/solution.hdf5");
    EXPECT_EQ(file.dataset("/Tensor").shape, (std::vector<std::uint64_t>{8, 12, 16, 6}));
    const auto tensor = file.read_array<double>("/Tensor");
    EXPECT_EQ((std::vector<double>(tensor.begin() + 6, tensor.begin() + 12)), (std::vector<double>{2, 1.5 * 0.0625, 0, 3, 0, 1.0625}));
    double worst = 0;
    for (std::size_t row = 0; row < phi.size(); ++row) {
        const double x = 0.0625 * (static_cast<double>(row % 16) + 0.5), y = 0.08 * (static_cast<double>(row / 16 % 12) + 0.5),
                     z = 0.125 * (static_cast<double>(row / 192) + 0.5);
        worst = std::max(worst, std::abs(phi[row] - (x * y * z + 2 * x)));
    }
    EXPECT_LT(worst, 2e-3);
    EXPECT_NE(read_file(directory / "out/solution.xmf").find("Tensor6"), std::string::npos);
    EXPECT_NE(read_file(directory / "out/report.html").find("−∇·(K∇φ)"), std::string::npos);
    const auto record = json::parse(read_file(directory / "out/record.json"));
    EXPECT_EQ(record["coefficient"], "xx = 2; xy = x; yy = 3; zz = z + 1");

    for (const char* precondition : {"multigrid", "ict", "ick", "jacobi"}) {
        std::vector<std::string> arguments{"run",        "box.toml", "-o",
                                           precondition, "--set",    std::string("solver.precondition=") + precondition};
        auto text = read_file(directory / "box.toml");
        if (std::string(precondition) != "jacobi") text.erase(text.find("tune = false\n"), 13);
        test::write_file(directory / "other.toml", text);
        arguments[1] = "other.toml";
        const auto other = kasane(arguments);
        ASSERT_EQ(other.status, 0) << precondition << ": " << other.err;
        EXPECT_LT(largest_difference(potential(precondition), phi), 1e-8) << precondition;
        EXPECT_EQ(kasane({"report", precondition}).status, 0) << "the record is read back";
    }
    EXPECT_NE(read_file(directory / "multigrid/report.html").find("geometric multigrid"), std::string::npos);
    EXPECT_EQ(kasane({"resume", "multigrid"}).status, 0) << "there is nothing left to do";

    // Eigenvalues that differ by a factor of 180: the multigrid of the matrix, and the report says so.
    auto turned = read_file(directory / "box.toml");
    turned.erase(turned.find("tune = false\n"), 13);
    test::write_file(directory / "turned.toml", turned);
    for (const std::string precondition : {"ict", "multigrid"})
        ASSERT_EQ(kasane({"run", "turned.toml", "-o", "turned-" + precondition, "--set", "coefficient.xy=2.5*x", "--set",
                          "solver.precondition=" + precondition})
                      .status,
                  0);
    EXPECT_LT(largest_difference(potential("turned-multigrid"), potential("turned-ict")), 1e-8);
    const auto page = read_file(directory / "turned-multigrid/report.html");
    EXPECT_NE(page.find("multigrid by smoothed aggregation"), std::string::npos);
    EXPECT_NE(page.find("of the tensor differ by a factor of up to"), std::string::npos);

    auto text = read_file(directory / "box.toml");
    const auto from = text.find("xx = 2"), to = text.find("[source]");
    text.replace(from, to - from, "file = 'out/solution.hdf5'\ndataset = 'Tensor'\n");
    test::write_file(directory / "from.toml", text);
    ASSERT_EQ(kasane({"run", "from.toml", "-o", "from", "--quiet"}).status, 0);
    EXPECT_EQ(potential("from"), phi);
}

TEST_F(Poisson, TensorsOfClosedBoxesGiveTheSolutionOfMeanZero) {
    // Entries beside the diagonal have both signs, so that the solver does not find the null space by itself.
    test::write_file(
        directory / "box.toml",
        "[run]\nproblem = 'poisson'\ndevice = 'cpu'\nthreads = 1\n[grid]\ncells = [8, 6, 4]\n[boundary]\n[coefficient]\nxx = 2\n"
        "xy = 1.5\nyy = 3\nzz = 1\n[source]\nformula = 'i - 4.5'\n[solver]\nrtol = 1e-11\n");
    for (const std::string precondition : {"multigrid", "ic0", "ict"}) {
        const auto outcome = kasane({"run", "box.toml", "-o", precondition, "--set", "solver.precondition=" + precondition, "--json"});
        ASSERT_EQ(outcome.status, 0) << precondition << ": " << outcome.err;
        const auto phi = potential(precondition);
        EXPECT_NEAR(std::accumulate(phi.begin(), phi.end(), 0.), 0, 1e-11) << precondition;
        EXPECT_LT(largest_difference(phi, potential("multigrid")), 1e-8) << precondition;
        EXPECT_TRUE(json::parse(read_file(directory / precondition / "record.json"))["setup"]["singular"]) << precondition;
    }
}

TEST_F(Poisson, FactorsWithFillAndTheirOptions) {
    std::map<std::string, int> iterations;
    for (const auto& [name, more] :
         {std::pair{"ict", ""}, {"loose", "drop_tolerance = 0.1\nfill = 1\n"}, {"ick", ""}, {"level", "level = 3\n"}}) {
        const bool threshold = std::string(name) == "ict" || std::string(name) == "loose";
        test::write_file(directory / "box.toml",
                         "[run]\nproblem = 'poisson'\ndevice = 'cpu'\nthreads = 1\n[grid]\ncells = [16, 16, 16]\n"
                         "[source]\nformula = 'i + j + k'\n[solver]\nprecondition = '" +
                             std::string(threshold ? "ict" : "ick") + "'\n" + more + "[output]\ndirectory = '" + name + "'\n");
        const auto outcome = kasane({"run", "box.toml", "--json"});
        ASSERT_EQ(outcome.status, 0) << outcome.err;
        EXPECT_EQ(outcome.json()["precondition"], threshold ? "ict" : "ick");
        iterations[name] = outcome.json()["iterations"];
        const auto exact = oracle(16);
        EXPECT_LT(largest_difference(potential(name), exact), 1e-6 * exact[0]);
    }
    EXPECT_LT(iterations["ict"], iterations["loose"]);
    EXPECT_LT(iterations["level"], iterations["ick"]);
    // A solve that reached its limit continues from its iterate.
    EXPECT_EQ(kasane({"run", "box.toml", "-o", "short", "--set", "solver.max_iterations=15"}).status, 1);
    EXPECT_EQ(kasane({"resume", "short"}).status, 0);
}

TEST_F(Poisson, MultigridOfAPeriodicBoxIsGeometricForAnEvenNumberOfCells) {
    for (const int n : {12, 13}) {
        test::write_file(
            directory / "box.toml",
            "[run]\nproblem = 'poisson'\ndevice = 'cpu'\nthreads = 1\n[grid]\ncells = [" + std::to_string(n) +
                ", 12, 12]\n[source]\nformula = 'i + j + k'\n[boundary]\nx_min = { periodic = true }\n"
                "x_max = { periodic = true }\nz_max = { dirichlet = 0.0 }\n[solver]\nrtol = 1e-11\n[output]\ndirectory = 'out" +
                std::to_string(n) + "'\n");
        const auto out = "out" + std::to_string(n), again = "again" + std::to_string(n);
        ASSERT_EQ(kasane({"run", "box.toml", "--set", "solver.tune=false"}).status, 0);
        const auto outcome = kasane({"run", "box.toml", "-o", again, "--set", "solver.precondition=multigrid", "--json"});
        ASSERT_EQ(outcome.status, 0) << outcome.err;
        EXPECT_EQ(outcome.json()["precondition"], "multigrid");
        EXPECT_LT(largest_difference(potential(again), potential(out)), 1e-7);
        const auto page = read_file(directory / again / "report.html");
        EXPECT_NE(page.find(n == 12 ? "geometric multigrid" : "multigrid by smoothed aggregation"), std::string::npos) << n;
    }
}

TEST_F(Poisson, MultigridGivesTheSameSolutionInFewerIterations) {
    test::write_file(
        directory / "box.toml",
        "[run]\nproblem = 'poisson'\ndevice = 'cpu'\nthreads = 1\n[grid]\ncells = [32, 32, 32]\n[source]\nformula = 'i + j + k'\n"
        "[solver]\nprecondition = 'multigrid'\n[output]\ndirectory = 'out'\n");
    const auto outcome = kasane({"run", "box.toml", "--json"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto printed = json::parse(outcome.out);
    EXPECT_EQ(printed["precondition"], "multigrid");
    EXPECT_LE(printed["iterations"], 12);
    EXPECT_LE(printed["relative_residual"], 1e-8);
    const auto exact = oracle(32);
    EXPECT_LT(largest_difference(potential(), exact), 1e-6 * *std::ranges::max_element(exact));
    const auto page = read_file(directory / "out/report.html");
    EXPECT_NE(page.find("preconditioned by geometric multigrid, took"), std::string::npos);
    EXPECT_EQ(page.find("Numbering"), std::string::npos) << "there is no matrix";
    EXPECT_EQ(kasane({"report", "out"}).status, 0) << "the record is read back";

    const auto refused = kasane({"check", "box.toml", "--set", "solver.ordering=cm-rcm:8"});
    EXPECT_EQ(refused.status, 2);
    EXPECT_NE(refused.err.find("solver.ordering: has no effect here"), std::string::npos) << refused.err;
    const auto unknown = kasane({"check", "box.toml", "--set", "solver.precondition=multigird"});
    EXPECT_EQ(unknown.status, 2);
    EXPECT_NE(unknown.err.find("did you mean \"multigrid\""), std::string::npos) << unknown.err;
    const auto short_of = kasane({"run", "box.toml", "-o", "short", "--set", "solver.max_iterations=8"});
    EXPECT_EQ(short_of.status, 1);
    const auto resumed = kasane({"resume", "short"});
    EXPECT_EQ(resumed.status, 0) << resumed.err;
    EXPECT_LT(largest_difference(potential("short"), exact), 1e-6 * *std::ranges::max_element(exact));
}

TEST_F(Poisson, WritesWhatParaViewReads) {
    problem(4, "", "", "formula = 'x*y*z'");
    ASSERT_EQ(kasane({"run", "box.toml", "--quiet", "--set", "grid.cells=[4,3,2]", "--set", "grid.spacing=[0.5,[1,2,4],3]", "--set",
                      "coefficient.formula=k", "--set", "run.title=phi < 3 & \"c\""})
                  .status,
              0);
    auto xdmf = read_file(directory / "out/solution.xmf");
    const std::string declaration = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n";
    ASSERT_TRUE(xdmf.starts_with(declaration));
    EXPECT_EQ(test::markup_problem(xdmf.substr(declaration.size()), test::Dialect::xml), "");
    EXPECT_NE(xdmf.find("TopologyType=\"3DRectMesh\" Dimensions=\"3 4 5\""), std::string::npos) << "nodes along z, y, x";
    // Every item has the stated place and shape.
    const auto file = hdf5::File::open(directory / "out/solution.hdf5");
    const std::regex form(
        "<DataItem Dimensions=\"([0-9 ]+)\" NumberType=\"Float\" Precision=\"8\" Format=\"HDF\">solution.hdf5:([^<]+)</DataItem>");
    std::vector<std::string> items;
    for (std::sregex_iterator at(xdmf.begin(), xdmf.end(), form), end; at != end; ++at) {
        std::string shape;
        for (const auto n : file.dataset((*at)[2]).shape) shape += (shape.empty() ? "" : " ") + std::to_string(n);
        EXPECT_EQ(shape, (*at)[1].str()) << (*at)[2];
        items.push_back((*at)[2]);
    }
    EXPECT_EQ(items, (std::vector<std::string>{"/Faces/x", "/Faces/y", "/Faces/z", "/Potential", "/Source", "/Coefficient"}));
    EXPECT_EQ(file.read<double>("/Faces/y"), (std::vector<double>{0, 1, 3, 7}));
    EXPECT_EQ(file.read<double>("/Spacing/z"), (std::vector<double>{3, 3}));
    EXPECT_EQ(file.read_array<double>("/Source", {2, 3, 4})[23], 1.75 * 5 * 4.5);
    EXPECT_EQ(file.read_array<double>("/Coefficient", {2, 3, 4})[12], 2);
    EXPECT_EQ(file.text_attribute("/Boundary", "z_max"), "dirichlet 0");
    EXPECT_EQ(file.text_attribute("/Solver", "Ordering"), "cm-rcm:8");
}

TEST_F(Poisson, CheckReportsMemoryPapersAndTheResolvedFile) {
    problem(16);
    const auto outcome = kasane({"check", "box.toml", "--json"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto reported = outcome.json();
    EXPECT_EQ(reported["problem"], "poisson");
    EXPECT_EQ(reported["n"], 4096);
    EXPECT_EQ(reported["nonzeros"], 7 * 4096 - 6 * 256);
    // Source, b and x, and the matrix: 8 bytes a row and 12 an entry; the solver takes more than its six vectors.
    EXPECT_GT(reported["memory"]["host_bytes"], 4096 * (24 + 8 + 48) + 12 * 27136);
    EXPECT_LT(reported["memory"]["host_bytes"], 4096 * 1000);
    EXPECT_TRUE(reported["unused_keys"].empty());
    EXPECT_TRUE(reported["notes"].empty());
    EXPECT_NE(reported["papers"].dump().find("Meijerink"), std::string::npos);
    EXPECT_FALSE(fs::exists(directory / "out"));
    // The resolved file means the same, and resolves to itself.
    test::write_file(directory / "resolved.toml", reported["resolved"]);
    const auto again = kasane({"check", "resolved.toml", "--json"});
    ASSERT_EQ(again.status, 0) << again.err;
    EXPECT_EQ(again.json()["resolved"], reported["resolved"]);
    EXPECT_NE(reported["resolved"].get<std::string>().find("[boundary.z_max]\ndirichlet = 0.0"), std::string::npos) << reported["resolved"];
    EXPECT_NE(kasane({"check", "box.toml"}).out.find("memory at most"), std::string::npos);
}

TEST_F(Poisson, MemoryOfTensorsOfNumbersIsThatOfGeometricMultigrid) {
    const auto host_bytes = [&](const std::string& coefficient) {
        test::write_file(directory / "box.toml",
                         "[run]\nproblem = 'poisson'\ndevice = 'cpu'\n[grid]\ncells = [64, 64, 64]\n" + coefficient +
                             "[source]\nformula = '1'\n[solver]\nprecondition = 'multigrid'\n[output]\ndirectory = 'out'\n");
        const auto outcome = kasane({"check", "box.toml", "--json"});
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        return outcome.json()["memory"]["host_bytes"].get<std::int64_t>();
    };
    constexpr std::int64_t cells = 64 * 64 * 64;
    const auto scalar = host_bytes(""), diagonal = host_bytes("[coefficient]\nxx = 2\nyy = 3\nzz = 1e-3\n");
    EXPECT_EQ(diagonal, scalar + 3 * 8 * cells);
    EXPECT_GT(host_bytes("[coefficient]\nxx = 2\nyy = 'x + 1'\nzz = 1\n"), diagonal) << "may be solved with the matrix";
    // The matrix twice, and no aggregation.
    const auto coupled = host_bytes("[coefficient]\nxx = 2\nxy = 1\nyy = 3\nyz = 0.1\nzz = 1\n");
    EXPECT_GT(coupled, diagonal + 2 * 12 * 26 * cells);
    EXPECT_LT(coupled, diagonal + 2 * 12 * 29 * cells);
    EXPECT_GT(host_bytes("[coefficient]\nxx = 2\nxy = 1\nyy = 3\nyz = '0.1'\nzz = 'x + 1'\n"), coupled);
}

TEST_F(Poisson, TakesFieldsAndWidthsFromFiles) {
    problem(6, "", "", "formula = 'sin(i) + cos(j*k)'");
    const std::vector<std::string> formulas{
        "run", "box.toml", "-o", "one", "--quiet", "--set", "grid.spacing=[0.5,[1,2,1,2,1,2],3]", "--set", "coefficient.formula=1 + i/k"};
    ASSERT_EQ(kasane(formulas).status, 0);
    const auto phi = potential("one");
    // All of it again from what the first run wrote, and once more from a flat data set of another name.
    test::write_file(directory / "files.toml",
                     "[run]\nproblem = 'poisson'\ndevice = 'cpu'\nthreads = 1\n[grid]\nfile = 'one/solution.hdf5'\n"
                     "[coefficient]\nfile = 'one/solution.hdf5'\n[source]\nfile = 'one/solution.hdf5'\n"
                     "[solver]\nordering = 'cm-rcm:8'\ntune = false\n[output]\ndirectory = 'two'\n");
    const auto outcome = kasane({"run", "files.toml"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(potential("two"), phi);
    auto flat = hdf5::File::create(directory / "flat.hdf5");
    flat.write("/deep/f", hdf5::File::open(directory / "one/solution.hdf5").read_array<double>("/Source"));
    flat.close();
    ASSERT_EQ(
        kasane({"run", "files.toml", "-o", "three", "--quiet", "--set", "source.file=flat.hdf5", "--set", "source.dataset=deep/f"}).status,
        0);
    EXPECT_EQ(potential("three"), phi);
}

TEST_F(Poisson, HoldsItsFaces) {
    // A linear potential from 5 to 9 across y: exact whatever the widths.
    problem(4, "rtol = 1e-12\n", "[boundary]\ny_min = { dirichlet = 5 }\ny_max = { dirichlet = 9 }\nz_max = { neumann = 0 }\n",
            "formula = '0'");
    ASSERT_EQ(kasane({"run", "box.toml", "--quiet", "--set", "grid.spacing=[1,[1,2,1,4],1]"}).status, 0);
    const auto phi = potential();
    const double expected[] = {5.25, 6, 6.75, 8};
    for (size_t row = 0; row < phi.size(); ++row)
        EXPECT_NEAR(phi[row], expected[row / 4 % 4], 1e-10) << row;  // rtol, a condition number of tens
}

TEST_F(Poisson, FacesThatAreNotNamedAreClosed) {
    // Between x_min and x_max alone, phi depends on x alone.
    problem(4, "rtol = 1e-12\n", "[boundary]\nx_min = { dirichlet = 1 }\nx_max = { dirichlet = 0 }\n", "formula = '0'");
    ASSERT_EQ(kasane({"run", "box.toml", "--quiet"}).status, 0);
    const auto phi = potential();
    for (size_t row = 0; row < phi.size(); ++row) EXPECT_NEAR(phi[row], 0.875 - 0.25 * static_cast<double>(row % 4), 1e-10) << row;
    const auto resolved = kasane({"check", "box.toml", "--json"}).json()["resolved"].get<std::string>();
    for (const char* face : {"y_min", "y_max", "z_min", "z_max"})
        EXPECT_NE(resolved.find(std::string("[boundary.") + face + "]\nneumann = 0.0"), std::string::npos) << resolved;
    EXPECT_EQ(json::parse(read_file(directory / "out/record.json"))["boundary"]["z_max"], (json{{"neumann", 0.0}}));
}

TEST_F(Poisson, FacesTakeFormulasAndTransfer) {
    // phi = x y + 2 z, which the scheme holds exactly.
    for (const std::string precondition : {"ic0", "multigrid"}) {
        problem(
            4, "rtol = 1e-12\n",
            "[boundary]\nx_min = { dirichlet = '2*z' }\nx_max = { neumann = '-y' }\ny_min = { dirichlet = '2*z' }\n"
            "y_max = { robin = 'x*y + 2*z + x/4', transfer = 4 }\nz_min = { robin = 'x*y - 2', transfer = 1 }\nz_max = { neumann = -2 }\n",
            "formula = '0'");
        if (precondition == "multigrid") {
            const std::regex matrix("ordering = 'cm-rcm:8'\ntune = false\n");
            test::write_file(directory / "box.toml",
                             std::regex_replace(read_file(directory / "box.toml"), matrix, "precondition = 'multigrid'\n"));
        }
        const auto outcome = kasane({"run", "box.toml", "--json", "--set", "output.directory=" + precondition});
        ASSERT_EQ(outcome.status, 0) << outcome.err;
        const auto phi = potential(precondition);
        for (size_t row = 0; row < phi.size(); ++row) {
            const auto x = static_cast<double>(row % 4) + 0.5, y = static_cast<double>(row / 4 % 4) + 0.5,
                       z = static_cast<double>(row / 16) + 0.5;
            EXPECT_NEAR(phi[row], x * y + 2 * z, 1e-9) << row;
        }
        const auto boundary = json::parse(read_file(directory / precondition / "record.json"))["boundary"];
        EXPECT_EQ(boundary["y_max"], (json{{"robin", 0.0}, {"transfer", 4.0}, {"formula", "x*y + 2*z + x/4"}}));
        EXPECT_EQ(boundary["z_max"], (json{{"neumann", -2.0}}));
        EXPECT_EQ(hdf5::File::open(directory / precondition / "solution.hdf5").text_attribute("/Boundary", "z_min"),
                  "robin x*y - 2, transfer 1");
        ASSERT_EQ(kasane({"report", precondition}).status, 0) << "the record is read again";
        EXPECT_NE(read_file(directory / precondition / "report.html").find("out of z_min"), std::string::npos);
    }
}

TEST_F(Poisson, PeriodicBoxes) {
    const std::string all =
        "[boundary]\nx_min = { periodic = true }\nx_max = { periodic = true }\ny_min = { periodic = true }\ny_max = { periodic = true }\n"
        "z_min = { periodic = true }\nz_max = { periodic = true }\n";
    problem(8, "rtol = 1e-11\n", all, "formula = 'sin(2*pi*x/8)'");
    const auto outcome = kasane({"run", "box.toml", "--json"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_TRUE(outcome.json()["singular"]);
    EXPECT_EQ(outcome.json()["nonzeros"], 7 * 512);
    const double eigenvalue = 2 - 2 * std::cos(2 * std::numbers::pi / 8);
    const auto phi = potential();
    for (size_t row = 0; row < phi.size(); ++row)
        EXPECT_NEAR(phi[row], std::sin(2 * std::numbers::pi * (static_cast<double>(row % 8) + 0.5) / 8) / eigenvalue, 1e-8) << row;
    EXPECT_EQ(json::parse(read_file(directory / "out/record.json"))["boundary"]["y_min"], (json{{"periodic", true}}));
    EXPECT_NE(read_file(directory / "out/report.html").find("periodic along x"), std::string::npos);
    const auto resolved = kasane({"check", "box.toml", "--json"}).json()["resolved"].get<std::string>();
    EXPECT_NE(resolved.find("[boundary.z_max]\nperiodic = true"), std::string::npos) << resolved;
    // Sources that do not balance are refused, with the value to subtract.
    problem(8, "", all, "formula = '3'");
    const auto refused = kasane({"run", "box.toml", "--set", "output.directory=other"});
    EXPECT_EQ(refused.status, 2);
    EXPECT_NE(refused.err.find("subtract 3 from the source"), std::string::npos) << refused.err;
}

TEST_F(Poisson, CheckpointsDoNotChangeTheIteration) {
    for (const std::string solver : {"iteration = 'eisenstat'\n", "iteration = 'plain'\n", "iteration = 'reduced'\nordering = 'cm-rcm:2'\n",
                                     "precondition = 'jacobi'\n"}) {
        problem(16, solver);
        auto text = read_file(directory / "box.toml");
        if (solver.find("ordering") != std::string::npos) text.erase(text.find("ordering = 'cm-rcm:8'\n"), 22);
        test::write_file(directory / "box.toml", text);
        const auto whole = kasane({"run", "box.toml", "--json", "--force", "-o", "whole"});
        const auto parts = kasane({"run", "box.toml", "--json", "--force", "-o", "parts", "--set", "output.checkpoint_every=1e-7"});
        ASSERT_EQ(whole.status, 0) << whole.err;
        ASSERT_EQ(parts.status, 0) << solver << parts.err;
        EXPECT_NEAR(parts.json()["iterations"].get<int>(), whole.json()["iterations"].get<int>(), 2) << solver;
        EXPECT_LE(parts.json()["relative_residual"], 1e-8);
        const auto phi = potential("whole");
        EXPECT_LT(largest_difference(potential("parts"), phi), 1e-6 * phi[0]) << solver;
        const auto history = run::read_solution(directory / "parts/solution.hdf5").history;
        EXPECT_EQ(history.size(), static_cast<size_t>(parts.json()["iterations"].get<int>()) + 1) << "each iteration once";
    }
}

TEST_F(Poisson, ASingularProblemIsSolvedForItsMeanFreeSolution) {
    problem(8, "", "[boundary]\nz_max = { neumann = 0 }\n", "formula = 'i + j + k - 13.5'");
    EXPECT_NE(kasane({"check", "box.toml"}).out.find("known up to a constant"), std::string::npos);
    const auto outcome = kasane({"run", "box.toml", "--json"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_NE(outcome.err.find("null space"), std::string::npos) << outcome.err;
    EXPECT_TRUE(outcome.json()["singular"]);
    EXPECT_NEAR(outcome.json()["mean_removed"].get<double>(), 0, 1e-12);
    EXPECT_LE(outcome.json()["relative_residual"], 1e-8);
    const auto phi = potential();
    std::vector<double> b;
    for (size_t row = 0; row < 512; ++row) b.push_back(static_cast<double>(row % 8 + row / 8 % 8 + row / 64 + 3) - 13.5);
    const auto exact = reference::solve({.nx = 8, .ny = 8, .nz = 8, .fixed_top = false}, b);
    EXPECT_LT(largest_difference(phi, exact), 1e-6 * *std::max_element(exact.begin(), exact.end()));
    EXPECT_NEAR(std::accumulate(phi.begin(), phi.end(), 0.), 0, 1e-6);
    EXPECT_NE(read_file(directory / "out/report.html").find("mean is zero"), std::string::npos);
}

TEST_F(Poisson, NoSourceMeansNoPotential) {
    problem(4, "", "", "formula = '0'");
    const auto outcome = kasane({"run", "box.toml", "--json"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.json()["iterations"], 0);
    EXPECT_EQ(potential(), std::vector<double>(64, 0.));
    EXPECT_EQ(test::markup_problem(read_file(directory / "out/report.html"), test::Dialect::html), "");
}

TEST_F(Poisson, ThreadsChangeNothingButRounding) {
    problem(20);
    ASSERT_EQ(kasane({"run", "box.toml", "-o", "one", "--quiet"}).status, 0);
    ASSERT_EQ(kasane({"run", "box.toml", "-o", "two", "--quiet", "--threads", "2"}).status, 0);
    const auto one = potential("one"), two = potential("two");
    // Both are within 1e-8 of b of the solution; sums of another order change the last iterate by far less.
    EXPECT_LT(largest_difference(one, two), 1e-8 * one[0]);
}

TEST_F(Poisson, ASolveThatDoesNotConvergeIsWrittenToo) {
    problem(16, "max_iterations = 20\n");
    const auto outcome = kasane({"run", "box.toml", "--json"});
    EXPECT_EQ(outcome.status, 1);
    const auto result = outcome.json();
    EXPECT_EQ(result["status"], "not converged");
    EXPECT_FALSE(result["converged"]);
    EXPECT_EQ(result["iterations"], 20);
    EXPECT_GT(result["relative_residual"], 1e-8);
    for (const char* words : {"not converged after 20 iterations", "kasane resume out", "solver.max_iterations"})
        EXPECT_NE(outcome.err.find(words), std::string::npos) << outcome.err;
    EXPECT_NE(read_file(directory / "out/report.html").find("not the solution"), std::string::npos);
    EXPECT_EQ(potential().size(), 4096u);
    // Each segment has twenty iterations, and begins with the iterate of the last one.
    double before = result["relative_residual"];
    int segments = 1;
    for (int status = 1; status == 1 && segments < 50; ++segments) {
        const auto resumed = kasane({"resume", "out", "--json"});
        status = resumed.status;
        EXPECT_LE(resumed.json()["iterations"], 20 * (segments + 1));
        EXPECT_GT(resumed.json()["iterations"], 20 * segments);
        EXPECT_LT(resumed.json()["relative_residual"], before) << segments;
        before = resumed.json()["relative_residual"];
    }
    EXPECT_GT(segments, 2);
    const auto exact = oracle(16);
    EXPECT_LT(largest_difference(potential(), exact), 1e-6 * exact[0]);
    EXPECT_EQ(json::parse(read_file(directory / "out/record.json"))["segments"].size(), static_cast<size_t>(segments));
    // A run that is done is left alone: with its folder of checkpoints, without it, and without its solution.
    for (const char* gone : {"nothing", "checkpoints", "solution.hdf5"}) {
        fs::remove_all(directory / "out" / gone);
        const auto record = read_file(directory / "out/record.json"), log = read_file(directory / "out/log.txt");
        const auto done = kasane({"resume", "out", "--json"});
        EXPECT_EQ(done.status, 0);
        EXPECT_EQ(done.json()["status"], "done");
        EXPECT_NE(done.err.find("already done"), std::string::npos) << done.err;
        EXPECT_EQ(read_file(directory / "out/record.json"), record) << gone;
        EXPECT_EQ(read_file(directory / "out/log.txt"), log) << gone;
        EXPECT_FALSE(fs::exists(directory / "out" / gone)) << gone;
    }
}

TEST_F(Poisson, AnInterruptedSolveContinues) {
    auto process = started();
    process.signal(SIGINT);
    const auto outcome = process.wait();
    ASSERT_EQ(outcome.status, 130) << outcome.out << outcome.err;
    EXPECT_NE(outcome.out.find("kasane resume out"), std::string::npos) << outcome.out;
    EXPECT_NE(outcome.out.find("kasane report out"), std::string::npos) << outcome.out;
    EXPECT_FALSE(fs::exists(directory / "out/solution.hdf5"));
    ASSERT_EQ(checkpoints().size(), 1u);
    const auto saved = run::read_solution(checkpoints()[0]);
    const auto record = json::parse(saved.record);
    EXPECT_EQ(record["status"], "interrupted");
    ASSERT_EQ(kasane({"report", "out"}).status, 0);
    EXPECT_NE(read_file(directory / "out/report.html").find("iterate so far"), std::string::npos);

    const auto resumed = kasane({"resume", "out", "--json"});
    ASSERT_EQ(resumed.status, 0) << resumed.err;
    EXPECT_GT(resumed.json()["iterations"], record["solve"]["iterations"]);
    EXPECT_EQ(resumed.json()["status"], "done");
    const auto exact = oracle(48);
    EXPECT_LT(largest_difference(potential(), exact), 1e-6 * exact[0]);
    EXPECT_TRUE(checkpoints().empty()) << "the solution is what is left";
    const auto history = run::read_solution(directory / "out/solution.hdf5").history;
    EXPECT_TRUE(std::ranges::is_sorted(history, {}, &sparse::ResidualPoint::iteration));
    EXPECT_EQ(history.back().iteration, resumed.json()["iterations"]);
}

TEST_F(Poisson, AKilledSolveContinuesFromItsNewestValidCheckpoint) {
    auto process = started({"--set", "output.checkpoint_every=0.02"});
    EXPECT_TRUE(wait_for([&] { return checkpoints().size() >= 2 || !process.running(); }));
    process.signal(SIGKILL);
    ASSERT_EQ(process.wait().status, 1000 + SIGKILL) << "it ended before it was killed";
    const auto saved = checkpoints();
    ASSERT_GE(saved.size(), 2u);
    const auto iterations = json::parse(run::read_solution(saved[saved.size() - 2]).record)["solve"]["iterations"].get<int>();
    EXPECT_GT(iterations, 0);
    // The newer one is damaged in the middle of its numbers.
    {
        const auto middle = static_cast<std::streamoff>(fs::file_size(saved.back()) / 2);
        std::fstream file(saved.back(), std::ios::in | std::ios::out | std::ios::binary);
        file.seekg(middle);
        const int byte = file.get();
        file.seekp(middle);
        file.put(static_cast<char>(byte ^ 1));
    }
    const auto resumed = kasane({"resume", "out", "--json"});
    ASSERT_EQ(resumed.status, 0) << resumed.err;
    EXPECT_NE(resumed.err.find("damaged"), std::string::npos) << resumed.err;
    EXPECT_NE(resumed.err.find("from iteration " + std::to_string(iterations)), std::string::npos) << resumed.err;
    const auto exact = oracle(48);
    EXPECT_LT(largest_difference(potential(), exact), 1e-6 * exact[0]);
}

TEST_F(Poisson, TheReportSaysThatTheSolutionIsMissing) {
    problem(8);
    ASSERT_EQ(kasane({"run", "box.toml", "--quiet"}).status, 0);
    EXPECT_EQ(read_file(directory / "out/report.html").find("is missing"), std::string::npos);
    fs::remove(directory / "out/solution.hdf5");
    ASSERT_EQ(kasane({"report", "out"}).status, 0);
    const auto page = read_file(directory / "out/report.html");
    EXPECT_NE(page.find("The solution, solution.hdf5, is missing."), std::string::npos);
    EXPECT_EQ(page.find("Open the solution"), std::string::npos);
}

TEST_F(Poisson, ADeeplyNestedRecordIsAnError) {
    problem(8);
    ASSERT_EQ(kasane({"run", "box.toml", "--quiet"}).status, 0);
    test::write_file(directory / "out/record.json", std::string(50'000, '[') + std::string(50'000, ']'));
    ASSERT_EQ(kasane({"report", "out"}).status, 0);
    EXPECT_NE(read_file(directory / "out/report.html").find("nested deeper"), std::string::npos);
    EXPECT_EQ(kasane({"resume", "out", "--quiet"}).status, 0);
    EXPECT_EQ(json::parse(read_file(directory / "out/record.json"))["status"], "done");
}

TEST_F(Poisson, WithoutAValidCheckpoint) {
    problem(8, "max_iterations = 3\n");
    ASSERT_EQ(kasane({"run", "box.toml", "--quiet"}).status, 1);
    const auto solution = directory / "out/solution.hdf5";
    fs::resize_file(solution, fs::file_size(solution) / 2);
    test::expect_bad_input(kasane({"resume", "out", "--json"}), {"solution.hdf5", "truncated or corrupt"});
    const auto report = kasane({"report", "out"});  // its notes name the damaged files
    EXPECT_EQ(report.status, 0) << report.err;
    EXPECT_NE(read_file(directory / "out/report.html").find("cannot be shown"), std::string::npos);
    fs::remove(solution);  // as a run that was killed before its first checkpoint
    const auto resumed = kasane({"resume", "out", "--json"});
    EXPECT_EQ(resumed.status, 1) << resumed.err;
    EXPECT_NE(resumed.err.find("starts from the beginning"), std::string::npos) << resumed.err;
    EXPECT_EQ(resumed.json()["iterations"], 3);
    // Another grid is another problem.
    auto run_file = read_file(directory / "out/run.toml");
    run_file.replace(run_file.find("[8, 8, 8]"), 9, "[8, 8, 9]");
    test::write_file(directory / "out/run.toml", run_file);
    test::expect_bad_input(kasane({"resume", "out", "--json"}), {"grid.cells", "8 x 8 x 9", "8 x 8 x 8"});
}

TEST_F(Poisson, NothingIsOverwritten) {
    problem(4);
    fs::create_directory(directory / "out");
    test::write_file(directory / "out/thesis.txt", "years of work");
    test::expect_bad_input(kasane({"run", "box.toml", "--json"}), {"output.directory", "out", "exists", "--force"});
    test::expect_bad_input(kasane({"run", "box.toml", "--force", "--json"}), {"output.directory", "other things"});
    EXPECT_EQ(std::distance(fs::directory_iterator(directory / "out"), {}), 1);
    // --force replaces a run by one of another kind, with nothing left of the first.
    ASSERT_EQ(kasane({"run", "box.toml", "-o", "done", "--quiet"}).status, 0);
    test::expect_bad_input(kasane({"run", "box.toml", "-o", "done", "--json"}), {"exists already"});
    small_run();
    ASSERT_EQ(kasane({"run", "small.toml", "-o", "done", "--force", "--quiet", "--set", "run.until=0.03125", "--set",
                      "output.snapshot_every=0.03125", "--set", "output.diagnostics_every=0.03125"})
                  .status,
              0);
    EXPECT_FALSE(fs::exists(directory / "done/solution.hdf5"));
    EXPECT_FALSE(fs::exists(directory / "done/solution.xmf"));
    ASSERT_EQ(kasane({"run", "box.toml", "-o", "done", "--force", "--quiet"}).status, 0);
    EXPECT_FALSE(fs::exists(directory / "done/energy.csv"));
    EXPECT_FALSE(fs::exists(directory / "done/snapshots"));
    EXPECT_TRUE(fs::exists(directory / "done/solution.hdf5"));
}

TEST_F(Poisson, TheReportIsWholeAndSafe) {
    problem(12, "ordering = 'natural'\n");
    auto text = read_file(directory / "box.toml");
    text.erase(text.find("ordering = 'cm-rcm:8'\n"), 22);
    test::write_file(directory / "box.toml", text);
    ASSERT_EQ(kasane({"run", "box.toml", "--quiet", "--set", "run.title=<script>alert(1)</script>"}).status, 0);
    const auto page = read_file(directory / "out/report.html");
    EXPECT_EQ(test::markup_problem(page, test::Dialect::html), "");
    EXPECT_EQ(page.find("<script"), std::string::npos);
    EXPECT_EQ(page.find("http"), std::string::npos) << "nothing is fetched";
    for (const char* words : {"1,728", "natural", "Convergence", "Sizes of the colours", "x → right, y ↑ up", "i + j + k", "solution.xmf",
                              "HOHNI17", "prefers-color-scheme", "max-width: 640px"})
        EXPECT_NE(page.find(words), std::string::npos) << words;
    size_t pictures = 0;
    for (auto at = page.find("data:image/png"); at != std::string::npos; at = page.find("data:image/png", at + 1)) ++pictures;
    EXPECT_EQ(pictures, 3u);
    ASSERT_EQ(kasane({"report", "out", "--quiet"}).status, 0);
    EXPECT_EQ(read_file(directory / "out/report.html"), page);
}

}  // namespace
