// Configurations that the workers of one process read together: every format, damaged files, files that one worker alone cannot read.
#include <lattice/distributed/local_file.hpp>
#include <test/lattice/file/gauge_files.hpp>

#include <fmt/format.h>

namespace {

using namespace kasane;
using namespace kasane::test;

class LocalGaugeFiles : public GaugeFiles {
   protected:
    std::filesystem::path put(const std::string& name, const std::string& bytes) const {
        std::ofstream(directory / name, std::ios::binary) << bytes;
        return directory / name;
    }
    /// One file of every format and encoding.
    std::vector<std::filesystem::path> files(const GaugeField& field) const {
        std::vector<std::filesystem::path> all;
        for (const int bits : {32, 64})
            for (const int rows : {2, 3}) {
                all.push_back(directory / fmt::format("{}-{}.nersc", bits, rows));
                write_gauge(all.back(), field, {GaugeFormat::nersc, bits, rows, rows == 2});
            }
        for (const int bits : {32, 64}) {
            all.push_back(directory / fmt::format("{}.lime", bits));
            write_gauge(all.back(), field, {.format = GaugeFormat::ildg, .bits = bits});
        }
        all.push_back(put("openqcd", plain_openqcd(field)));
        for (const bool big_endian : {false, true}) all.push_back(put(big_endian ? "milc-big" : "milc", plain_milc(field, big_endian)));
        return all;
    }
    template <class Body>
    static void on_workers(int workers, Body body) {
        const auto ranks = comm::alone();
        comm::WorkerCommunicator communicator(*ranks, workers);
        body(communicator);
    }
};

TEST_F(LocalGaugeFiles, PartsAreThoseOfTheWholeFile) {
    const auto compare = [&](const Extents& n, const std::vector<GridShape>& shapes) {
        const auto all = files(random_field(n));
        for (const auto& shape : shapes)
            on_workers(shape[0] * shape[1] * shape[2] * shape[3], [&](comm::WorkerCommunicator& communicator) {
                for (const auto& file : all) expect_parts_of_file(communicator, shape, file);
            });
        on_workers(2, [&](comm::WorkerCommunicator& communicator) { expect_parts_of_file(communicator, {}, all[0]); });
    };
    compare({{4, 8, 4, 6}}, {{1, 1, 1, 1}, {2, 1, 1, 1}, {1, 2, 1, 1}, {1, 1, 2, 1}, {1, 1, 1, 3}, {2, 2, 2, 1}, {1, 4, 1, 1}});
    compare({{2, 2, 8, 4}}, {{1, 1, 4, 1}, {1, 1, 2, 2}});
}

/// The error is that of a reader of the whole file, wherever the damage is: in the part of one worker, or of another.
TEST_F(LocalGaugeFiles, DamageInAnyPartEndsAllWorkers) {
    const Extents n{{4, 4, 4, 4}};
    const auto field = random_field(n);
    const auto lime = written(field, {.format = GaugeFormat::ildg}), milc = plain_milc(field, true);
    on_workers(4, [&](comm::WorkerCommunicator& communicator) {
        for (const auto& whole : {written(field, {.format = GaugeFormat::nersc}), lime, milc}) {
            const std::size_t first = whole.size() - 4 * 256 * 72;  // within the payload of each of them
            for (int part = 0; part < 7; ++part) {
                auto bytes = whole;
                auto& byte = bytes[first + static_cast<std::size_t>(part) * 10'000];
                byte = static_cast<char>(byte ^ 1);
                expect_error_of_file(communicator, put("changed", bytes));
            }
        }
        // A link that is not in SU(3), in the part of each worker.
        for (const Site& s : {Site{0, 0, 0, 0}, Site{1, 2, 0, 3}, Site{3, 0, 3, 0}, Site{3, 3, 3, 3}}) {
            auto damaged = field;
            for (const int mu : {1, 3}) damaged.links[static_cast<std::size_t>(4 * n.lexicographic(s) + mu)].e[1][1].re += 1e-9;
            expect_error_of_file(communicator, put("far", plain_openqcd(damaged)));
        }
        // Files that no one can read.
        for (const std::size_t length : {std::size_t{0}, std::size_t{50}, std::size_t{500}, lime.size() - 1000, lime.size() / 2})
            expect_error_of_file(communicator, put("cut", lime.substr(0, length)));
        expect_error_of_file(communicator, put("odd", written(random_field({{2, 2, 2, 2}}), {}).replace(0, 4, "none")));
        expect_error_of_file(communicator, directory / "nothing");
        // And the workers still read a good one.
        expect_parts_of_file(communicator, {}, put("good", lime));
    });
}

TEST_F(LocalGaugeFiles, AFileThatOneWorkerCannotReadEndsAll) {
    const auto good = put("good", written(random_field({{4, 4, 4, 4}}), {})),
               other = put("other", written(random_field({{4, 4, 4, 8}}), {}));
    const auto refused = [&](const std::filesystem::path& third, const std::string& word) {
        on_workers(4, [&](comm::WorkerCommunicator& communicator) {
            communicator.run([&](comm::Worker& worker) {
                try {
                    read_local_gauge(worker, Cpu{1}, {}, worker.index() == 2 ? third : good);
                    ADD_FAILURE() << "worker " << worker.index() << " read it";
                } catch (const InputError& error) {
                    EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
                }
            });
        });
    };
    refused(directory / "nothing", "nothing");
    refused(put("cut", bytes_of(good).substr(0, 700)), "cut");
    refused(other, "other extents for some ranks");
}

TEST_F(LocalGaugeFiles, UnusableGridsAreRefused) {
    const auto good = put("good", written(random_field({{4, 4, 4, 4}}), {}));
    on_workers(3, [&](comm::WorkerCommunicator& communicator) {
        communicator.run([&](comm::Worker& worker) {
            EXPECT_THROW(read_local_gauge(worker, Cpu{1}, {}, good), InputError);
            EXPECT_THROW(read_local_gauge(worker, Cpu{1}, GridShape{3, 1, 1, 1}, good), InputError);
        });
    });
}

}  // namespace
