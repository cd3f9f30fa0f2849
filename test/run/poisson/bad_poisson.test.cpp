// Bad run files of a Poisson problem: exit status 2, messages that name file, line and key, all at once, and nothing written.
#include <kasane/core/io/hdf5.hpp>

#include <gtest/gtest.h>
#include <test/run/command.hpp>

#include <limits>

namespace {

using namespace kasane;
namespace fs = std::filesystem;

class BadPoisson : public test::CommandTest {
   protected:
    /// `run` and `check` refuse a good file with these settings, with these words, and leave no directory.
    void expect_refused(const std::vector<std::string>& settings, const std::vector<std::string>& words) {
        test::write_file(directory / "box.toml",
                         "[run]\nproblem = 'poisson'\ndevice = 'cpu'\nthreads = 1\n[grid]\ncells = [4, 4, 4]\n[source]\nformula = '1'\n"
                         "[solver]\ntune = false\n[output]\ndirectory = 'out'\n");
        for (const char* verb : {"run", "check"}) {
            std::vector<std::string> arguments{verb, "box.toml", "--json"};
            for (const auto& each : settings) arguments.insert(arguments.end(), {"--set", each});
            test::expect_bad_input(kasane(arguments), words);
        }
        EXPECT_FALSE(fs::exists(directory / "out"));
    }
    void expect_text_refused(const std::string& text, const std::vector<std::string>& words) {
        test::write_file(directory / "text.toml", text);
        for (const char* verb : {"run", "check"}) {
            const auto outcome = kasane({verb, "text.toml"});
            EXPECT_EQ(outcome.status, 2) << outcome.out << outcome.err;
            for (const auto& word : words) EXPECT_NE(outcome.err.find(word), std::string::npos) << "no '" << word << "' in " << outcome.err;
        }
        EXPECT_FALSE(fs::exists(directory / "out"));
    }
};

TEST_F(BadPoisson, AllProblemsAtOnceWithTheirLines) {
    expect_text_refused(
        "[run]\nproblem = 'poisson'\ndevice = 'cpu'\n"
        "[grid]\ncells = [4, 0, 4]\nspcing = 1\n"
        "[boundary]\nx_min = { dirichet = 1 }\nx_mx = { neumann = 1 }\n"
        "[source]\nformula = 'i + sinn(j)'\n"
        "[solver]\nrtol = 0\nordering = 'cm-rmc:8'\nformat = 'sell:0'\n",
        {"text.toml:5:", "number 2: is 0", "text.toml:6:", "did you mean 'spacing'", "text.toml:8:", "did you mean 'dirichlet'",
         "text.toml:9:", "did you mean 'x_max'", "text.toml:11:", "column 5", "'sin'", "text.toml:13:", "at least 1e-15",
         "text.toml:14:", "cm-rcm", "text.toml:15:", "output.directory", "is missing"});
}

TEST_F(BadPoisson, OtherProblemsAreRefused) {
    expect_text_refused("[run]\nproblem = 'poison'\n",
                        {"text.toml:2:", "'poison' is not known", "gravity, poisson", "Did you mean 'poisson'"});
    expect_text_refused("[run]\ntitle = 'x'\n", {"run.problem", "is missing"});
    test::write_file(directory / "box.toml", "[run]\nproblem = 'poisson'\n");
    test::expect_bad_input(kasane({"sample", "box.toml", "-o", "s.hdf5", "--json"}), {"box.toml", "run.problem", "'gravity' is needed"});
}

TEST_F(BadPoisson, Grids) {
    expect_refused({"grid.cells=[4, 4]"}, {"grid.cells", "must have 3 whole numbers, not 2"});
    expect_refused({"grid.cells=64"}, {"grid.cells", "must be an array"});
    expect_refused({"grid.cells=[2000, 2000, 2000]"}, {"grid.cells", "more than 2147483647 cells"});
    expect_refused({"grid.cells=[2147483647, 2147483647, 2147483647]"}, {"grid.cells", "more than 2147483647 cells"});
    expect_refused({"grid.spacing=[1, 2]"}, {"grid.spacing", "must have 3 elements"});
    expect_refused({"grid.spacing=[1, [1, 2, 3], 1]"}, {"grid.spacing", "along y has 3 numbers", "(4)"});
    expect_refused({"grid.spacing=[1, [1, 2, -3, 1], 1]"}, {"grid.spacing", "element 2, number 3", "above 0"});
    expect_refused({"grid.spacing=0"}, {"grid.spacing", "above 0"});
    expect_refused({"grid.group=/Spacing"}, {"grid.group", "belongs to file"});
    expect_refused({"grid.cells=[1,1,1]", "boundary.z_max={neumann=0.0}"}, {"grid.cells", "single cell without a Dirichlet face"});
}

TEST_F(BadPoisson, MoreCellsThanMemory) {
    expect_refused({"grid.cells=[1200, 1200, 1200]"}, {"grid.cells", "1200 x 1200 x 1200 cells need", "GiB", "are free"});
}

TEST_F(BadPoisson, Boundaries) {
    expect_refused({"boundary.x_min={}"}, {"boundary.x_min", "dirichlet = VALUE"});
    expect_refused({"boundary.x_min={dirichlet=1.0, neumann=2.0}"}, {"boundary.x_min.neumann", "one of the two"});
    expect_refused({"boundary.x_min=3"}, {"boundary.x_min", "must be a table"});
    expect_refused({"boundary.x_min={dirichlet=inf}"}, {"boundary.x_min.dirichlet", "must be finite"});
    expect_refused({"boundary.x_min={dirichlet='x +'}"}, {"boundary.x_min.dirichlet", "formula ends"});
    expect_refused({"boundary.x_min={dirichlet='1/(y - y)'}"}, {"boundary.x_min", "finite on the whole face"});
    expect_refused({"boundary.x_min={robin=1.0}"}, {"boundary.x_min.transfer", "is missing"});
    expect_refused({"boundary.x_min={robin=1.0, transfer=0.0}"}, {"boundary.x_min.transfer", "above 0"});
    expect_refused({"boundary.x_min={robin=1.0, transfer=1e200}"}, {"boundary.x_min", "between 1e-100 and 1e100"});
    expect_refused({"boundary.x_min={neumann=1.0, transfer=2.0}"}, {"boundary.x_min.transfer", "belongs to robin"});
    expect_refused({"boundary.x_min={robin=1.0, transfer=2.0, neumann=3.0}"}, {"boundary.x_min.robin", "one of the two"});
    expect_refused({"boundary.x_min={periodic=true}"}, {"boundary.x_min", "x_max is not", "periodic = true"});
    expect_refused({"boundary.x_min={periodic=false}"}, {"boundary.x_min.periodic", "is false"});
    expect_refused({"boundary.x_min={periodic=true, dirichlet=1.0}"}, {"boundary.x_min.periodic", "another condition"});
    expect_refused({"boundary.x_min={periodic=true}", "boundary.x_max={periodic=true}", "grid.cells=[2, 4, 4]"},
                   {"boundary.x_min", "at least 3"});
}

TEST_F(BadPoisson, Formulas) {
    expect_refused({"source.formula=i +"}, {"source.formula", "column 4"});
    expect_refused({"source.formula=1/(i - 2)"}, {"source.formula", "cell (2, 1, 1)", "finite"});
    expect_refused({"coefficient.formula=i - 2"}, {"coefficient.formula", "is -1 in cell (1, 1, 1)", "positive"});
    expect_refused({"source.dataset=f"}, {"source.dataset", "belongs to file"});
    expect_text_refused("[run]\nproblem = 'poisson'\n[grid]\ncells = [2, 2, 2]\n[output]\ndirectory = 'out'\n",
                        {"source.formula", "is missing"});
}

TEST_F(BadPoisson, MagnitudesBeyondDoublesNameTheirKeys) {
    for (const char* spacing : {"1e300", "1e-300", "1e160", "[1.0, 1.0, 1e200]"})
        expect_refused({std::string("grid.spacing=") + spacing}, {"grid.spacing", "too extreme", "Choose other units"});
    for (const char* c : {"'1e300'", "'1e-300'", "i < 2 ? 1e-160 : 1"})
        expect_refused({std::string("coefficient.formula=") + c}, {"coefficient.formula", "too extreme"});
    expect_refused({"boundary.x_min={dirichlet=1e305}"}, {"boundary.x_min", "too extreme", "1e+305"});
    expect_refused({"boundary.x_min={dirichlet=1.0}", "boundary.y_max={neumann=1e305}"}, {"boundary.y_max", "too extreme"});
    expect_refused({"source.formula='1e307'", "grid.spacing=10.0"}, {"source.formula", "cell (1, 1, 1)", "finite"});
    expect_text_refused(
        "[run]\nproblem = 'poisson'\n[grid]\ncells = [4, 4, 4]\nspacing = 1e300\n[source]\nformula = '1'\n[output]\ndirectory = 'out'\n",
        {"text.toml:5:", "grid.spacing", "too extreme"});
}

TEST_F(BadPoisson, SourcesThatNoFluxBalances) {
    const auto closed = [](const std::string& source) {
        return std::vector<std::string>{"boundary={}", "source.formula='" + source + "'"};
    };
    // 64 unit cells with the source 1: 64 in all.
    expect_refused(closed("1"), {"source.formula", "add up to 64 instead of 0", "subtract 1 from the source", "dirichlet"});
    expect_refused(closed("i - 2.5 + 1e-6"), {"source.formula", "does not balance"});
    auto with_flux = closed("1");
    with_flux.push_back("boundary.x_max={neumann=3.0}");  // 16 faces: 48 leave
    with_flux.erase(with_flux.begin());
    expect_refused(with_flux, {"source.formula", "add up to 16 instead of 0", "subtract 0.25 from the source"});
}

TEST_F(BadPoisson, Tensors) {
    const std::vector<std::string> diagonal{"coefficient.xx=1.0", "coefficient.yy=1.0", "coefficient.zz=1.0"};
    const auto with = [&](std::vector<std::string> more) {
        more.insert(more.begin(), diagonal.begin(), diagonal.end());
        return more;
    };
    expect_refused(with({"coefficient.xy='i == 3 && j == 2 ? 1.5 : 0'"}),
                   {"coefficient.xx", "not positive definite and finite in cell (3, 2, 1)", "xy = 1.5"});
    expect_refused(with({"coefficient.xz='1/(i - 2)'"}), {"coefficient.xz", "cell (2, 1, 1)", "finite"});
    expect_refused(with({"coefficient.xz='1 +'"}), {"coefficient.xz", "formula ends"});
    expect_refused(with({"coefficient.formula=x"}), {"coefficient.formula", "beside components of a tensor"});
    expect_refused({"coefficient.xx=1.0"}, {"coefficient.yy", "is missing"});
    expect_refused({"coefficient.xx=1.0", "coefficient.yy=0.0", "coefficient.zz=1.0"}, {"coefficient.xx", "yy = 0"});
    expect_refused(with({"coefficient.xu=1.0"}), {"coefficient.xu"});
}

TEST_F(BadPoisson, Files) {
    const auto expect = [&](const std::string& keys, const std::vector<std::string>& words) {
        auto all = words;
        all.push_back("text.toml:6:");
        expect_text_refused("[run]\nproblem = 'poisson'\n[grid]\ncells = [4, 3, 2]\n[source]\n" + keys + "\n[output]\ndirectory = 'out'\n",
                            all);
    };
    expect("file = 'nowhere.hdf5'", {"nowhere.hdf5", "there is no such file"});
    test::write_file(directory / "text.hdf5", "not HDF5 at all");
    expect("file = 'text.hdf5'", {"text.hdf5", "not an HDF5 file"});
    std::vector<double> values(24, 1.);
    auto file = hdf5::File::create(directory / "f.hdf5");
    file.write_array<double>("/Source", {4, 3, 2}, view(std::as_const(values)));
    file.write("/Short", std::vector<double>(23, 1.));
    values[5] = std::numeric_limits<double>::quiet_NaN();
    file.write("/Nan", values);
    file.write("/x", std::vector<double>(4, 1.));
    file.write("/y", std::vector<double>{1, -1, 1});
    file.write("/z", std::vector<double>(2, 1.));
    file.close();
    expect("file = 'f.hdf5'", {"f.hdf5", "/Source", "(4, 3, 2)", "(2, 3, 4)"});
    expect("file = 'f.hdf5'\ndataset = 'Short'", {"/Short", "(23)", "(24)"});
    expect("file = 'f.hdf5'\ndataset = 'Absent'", {"/Absent", "no such data set"});
    expect("file = 'f.hdf5'\ndataset = 'Nan'", {"/Nan", "number 6 is nan"});
    fs::copy_file(directory / "f.hdf5", directory / "cut.hdf5");
    fs::resize_file(directory / "cut.hdf5", fs::file_size(directory / "cut.hdf5") / 2);
    expect("file = 'cut.hdf5'", {"cut.hdf5", "truncated or corrupt"});

    const std::string head = "[run]\nproblem = 'poisson'\n[source]\nformula = '1'\n[output]\ndirectory = 'out'\n[grid]\nfile = 'f.hdf5'\n";
    expect_text_refused(head, {"text.toml:8:", "f.hdf5", "/Spacing/x"});
    expect_text_refused(head + "group = '/'\n", {"text.toml:8:", "width -1 along y in cell 2"});
    expect_text_refused(head + "spacing = 1\n", {"text.toml:9:", "one of the two"});
    file = hdf5::File::create(directory / "f.hdf5");
    for (const char* axis : {"/Spacing/x", "/Spacing/y", "/Spacing/z"}) file.write(axis, std::vector<double>(2, 1.));
    file.close();
    expect_text_refused(head + "cells = [2, 2, 3]\n", {"text.toml:9:", "[2, 2, 3]", "2 x 2 x 2 cells"});
}

TEST_F(BadPoisson, Solvers) {
    for (const char* rtol : {"2.0", "1.0", "1e-300", "-1e-8"})
        expect_refused({std::string("solver.rtol=") + rtol}, {"solver.rtol", "at least 1e-15 and below 1"});
    expect_refused({"solver.max_iterations=0"}, {"solver.max_iterations", "at least 1"});
    expect_refused({"solver.precondition=ic"}, {"solver.precondition", "ic0"});
    expect_refused({"solver.precondition=ilu0"}, {"solver.precondition", "is not known", "ict, ick, multigrid."});
    expect_refused({"solver.precondition=ict", "solver.ordering=rcm"}, {"solver.ordering", "no such option", "ic0"});
    expect_refused({"solver.precondition=multigrid", "solver.ordering=rcm"},
                   {"solver.ordering", "has no effect here, nor have tune:", "no such options", "Remove them, or take", "ic0"});
    expect_refused({"solver.drop_tolerance=0.1"}, {"solver.drop_tolerance", "belongs to precondition = \\\"ict\\\"", "ic0"});
    expect_refused({"solver.level=2"}, {"solver.level", "belongs to precondition = \\\"ick\\\""});
    expect_refused({"solver.ordering=mc:0"}, {"solver.ordering"});
    expect_refused({"solver.numbering=coalesce"}, {"solver.numbering", "coalesced"});
    expect_refused({"solver.format=sel:8"}, {"solver.format", "sell"});
    expect_refused({"solver.iteration=eisenstadt"}, {"solver.iteration", "eisenstat"});
    expect_refused({"solver.launch=graphs"}, {"solver.launch", "graph"});
    expect_refused({"solver.ssor_omega=1.5"}, {"solver.ssor_omega", "belongs to precondition = \\\"ssor\\\""});
    expect_refused({"solver.precondition=ssor", "solver.ssor_omega=2"}, {"solver.ssor_omega", "below 2"});
    expect_refused({"solver.tuning_file=here.json"}, {"solver.tuning_file", "no effect with tune = false"});
    expect_refused({"solver.tuning_file=box.toml", "solver.tune=true"}, {"solver.tuning_file", "is not replaced", "ends in .json"});
    expect_refused({"output.checkpoint_every=-1"}, {"output.checkpoint_every", "at least 0"});
}

}  // namespace
