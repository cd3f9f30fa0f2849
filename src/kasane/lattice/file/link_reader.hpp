// Reads the links of a file into a field: decodes and checks each of them.
// Invariants: the size is compared with the memory before it is allocated; finish() reports all problems of the links at once.
#pragma once

#include <kasane/core/base/error.hpp>
#include <kasane/lattice/file/gauge_file.hpp>
#include <kasane/lattice/file/stored_links.hpp>

#include <array>
#include <cstdint>
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
    /// @throws InputError where the size `payload` differs from that of the lattice, or the field needs more than `memory`
    LinkReader(std::string file, const Extents& extents, const Encoding& stored, std::uint64_t payload, std::uint64_t memory);

    void take(index_t site, int mu, const unsigned char* stored);
    void complain(std::string message, std::string key = "") { problems_.push_back({std::move(message), {file_, 0, 0, std::move(key)}}); }
    void expect_plaquette(Stated stated) { plaquette_ = stated; }
    void expect_link_trace(Stated stated) { link_trace_ = stated; }

    /// @param facts  of the header; the rest is filled in   @throws InputError with every problem
    GaugeFile finish(GaugeFileFacts facts);

   private:
    struct Outliers {
        index_t count = 0, site = 0;
        int mu = 0;
        double distance = 0;
    };
    void judge_links(GaugeFileFacts& facts);
    void compare_averages(const GaugeFileFacts& facts);

    std::string file_;
    GaugeField field_;
    Encoding stored_;
    bool single_ = true;  ///< every number so far is exact in single precision
    double worst_ = 0;
    Outliers beyond_[2];  ///< links within double's tolerance, within single's
    std::optional<Stated> plaquette_, link_trace_;
    std::vector<InputProblem> problems_;
};

}  // namespace kasane::lattice
