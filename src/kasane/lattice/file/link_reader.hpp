// Reads the links of a file into a field: decodes and checks each of them.
// Invariants: the size is compared with the memory before it is allocated; finish() reports all problems of the links at once.
#pragma once

#include <kasane/core/base/error.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/core/device/thread_pool.hpp>
#include <kasane/lattice/file/gauge_file.hpp>
#include <kasane/lattice/file/part_reader.hpp>
#include <kasane/lattice/file/stored_links.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kasane::lattice {

/// A number that a header states, and the tolerance of its comparison with the links.
struct Stated {
    double value = 0, tolerance = 0;
};
/// Tolerance of a number printed like `text`: one unit of its last digit, and the rounding of links with that many bits.
std::optional<Stated> stated_number(std::string_view text, int bits);

/// Tolerance of a link's distance from SU(3): rounding of its entries, and the drift of updates before they reunitarise.
inline double su3_tolerance(bool single) { return single ? 1e-5 : 1e-12; }

/// distance_from_su3(); infinite for entries that a unitary matrix cannot have, NaN among them.
double checked_distance(const Su3<double>& u);

/// @throws InputError naming file and key where the extents are not valid (check_extents), or too large for int
Extents checked_extents(const std::string& file, const std::string& key, const std::array<index_t, 4>& n);

class LinkReader {
   public:
    /// @param part  the sites that are kept; must outlive it
    /// @throws InputError where the size `payload` differs from that of the lattice, or the field needs more than `memory`
    LinkReader(std::string file, const Extents& extents, const Encoding& stored, std::uint64_t payload, std::uint64_t memory,
               PartReader& part);

    const FileBox& box() const { return box_; }
    /// Reads the sites of the box from a payload that begins at the source's position: x fastest, y, z, t; at each the links along x, y, z,
    /// t. @param sum  the format's checksum, to which the sites are added   @throws InputError when the file ends before
    template <class Sum>
    void read_sites(ByteSource& source, Sum& sum);
    /// @param site  number in the box
    void take(index_t site, int mu, const unsigned char* stored) { take(found_, site, mu, stored); }
    void complain(std::string message, std::string key = "") { problems_.push_back({std::move(message), {file_, 0, 0, std::move(key)}}); }
    void expect_plaquette(Stated stated) { plaquette_ = stated; }
    void expect_link_trace(Stated stated) { link_trace_ = stated; }

    /// @param facts  of the header; the rest is filled in   @throws InputError with every problem
    GaugeFile finish(GaugeFileFacts facts);

   private:
    struct Outliers {
        index_t count = 0, first = 0;  ///< link number of the first: 4 site + mu, site in the lattice
        double distance = 0;           ///< of the first
        void add(const Outliers& other);
    };
    /// About the links that were read.
    struct Found {
        bool single = true;  ///< every number so far is exact in single precision
        double worst = 0;
        Outliers beyond[2];  ///< links within double's tolerance, within single's
        void add(const Found& other);
    };
    void take(Found& found, index_t site, int mu, const unsigned char* stored);
    void combine();
    void judge_links(GaugeFileFacts& facts);
    void compare_averages(const GaugeFileFacts& facts);

    std::string file_;
    PartReader& part_;
    FileBox box_;
    GaugeField field_;
    Encoding stored_;
    Found found_;
    std::optional<Stated> plaquette_, link_trace_;
    std::vector<InputProblem> problems_;
};

template <class Sum>
void LinkReader::read_sites(ByteSource& source, Sum& sum) {
    const auto begin = source.position();
    const auto link = stored_.link_bytes(), size = 4 * link;
    // Blocks of about a mebibyte, which threads read, check and decode.
    const index_t run = box_.run(), block = std::min(run, std::max<index_t>(1, (index_t{1} << 20) / static_cast<index_t>(size)));
    const index_t per_run = (run + block - 1) / block;
    struct Worker {
        Sum sum;
        Found found;
        std::vector<unsigned char> bytes;
        std::exception_ptr error;
    };
    std::vector<Worker> workers(static_cast<std::size_t>(thread_count(Cpu{})), Worker{sum, {}, {}, {}});
    for_each_part(thread_count(Cpu{}), box_.local.volume() / run * per_run, [&](index_t part, int thread) {
        auto& worker = workers[static_cast<std::size_t>(thread)];
        if (worker.error) return;
        try {
            const index_t within = part % per_run * block, number = part / per_run * run + within;
            const index_t first = box_.lattice.lexicographic(box_.site(number));
            const auto count = static_cast<std::size_t>(std::min(block, run - within));
            auto& bytes = worker.bytes;
            bytes.resize(count * size);
            KS_VALIDATE(source.read_at(begin + static_cast<std::uint64_t>(first) * size, bytes.data(), bytes.size()) == bytes.size(),
                        truncated, {source.name(), 0, 0, ""});
            for (std::size_t i = 0; i < count; ++i) {
                const auto* site = bytes.data() + i * size;
                worker.sum.add_site(first + static_cast<index_t>(i), site, size);
                for (int mu = 0; mu < 4; ++mu)
                    take(worker.found, number + static_cast<index_t>(i), mu, site + static_cast<std::size_t>(mu) * link);
            }
        } catch (...) {
            worker.error = std::current_exception();
        }
    });
    for (const auto& worker : workers) {
        if (worker.error) std::rethrow_exception(worker.error);
        sum.add(worker.sum);
        found_.add(worker.found);
    }
    source.seek(begin + static_cast<std::uint64_t>(box_.lattice.volume()) * size);
    sum.combine(part_);
}

}  // namespace kasane::lattice
