#include <kasane/core/device/host_memory.hpp>
#include <kasane/core/io/number_text.hpp>
#include <kasane/lattice/file/link_reader.hpp>
#include <kasane/lattice/observe/observables.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace kasane::lattice {
namespace {

const char* direction(int mu) { return mu == 0 ? "x" : mu == 1 ? "y" : mu == 2 ? "z" : "t"; }

}  // namespace

double checked_distance(const Su3<double>& u) {
    for (const auto& row : u.e)
        for (const auto& z : row)
            if (!(std::abs(z.re) < 2 && std::abs(z.im) < 2)) return std::numeric_limits<double>::infinity();
    return distance_from_su3(u);
}

std::optional<Stated> stated_number(std::string_view text, int bits) {
    double value = 0;
    if (parse_number(text, value) != NumberText::good || !std::isfinite(value)) return std::nullopt;
    const auto exponent_at = std::min(text.find_first_of("eEdD"), text.size()), point = text.find('.');
    index_t exponent = 0;
    if (exponent_at < text.size()) parse_number(text.substr(exponent_at + 1), exponent);
    const auto decimals = point < exponent_at ? static_cast<double>(exponent_at - point - 1) : 0;
    // Sums over many links in single precision lose some of its seven digits.
    const auto last_digit = std::pow(10.0, static_cast<double>(exponent) - decimals);
    return Stated{value, (bits == 32 ? 1e-5 : 1e-7) + std::min(last_digit, 0.01)};
}

Extents checked_extents(const std::string& file, const std::string& key, const std::array<index_t, 4>& n) {
    Extents extents;
    for (std::size_t mu = 0; mu < 4; ++mu) {
        KS_VALIDATE(n[mu] >= 0 && n[mu] <= std::numeric_limits<int>::max(),
                    fmt::format("the extent along {} is {}, which no lattice has: it is damaged", direction(static_cast<int>(mu)), n[mu]),
                    {file, 0, 0, key});
        extents.n[mu] = static_cast<int>(n[mu]);
    }
    check_extents(extents, {file, 0, 0, key});
    return extents;
}

LinkReader::LinkReader(std::string file, const Extents& extents, const Encoding& stored, std::uint64_t payload, std::uint64_t memory,
                       PartReader& part)
    : file_(std::move(file)), part_(part), stored_(stored) {
    const Where where{file_, 0, 0, ""};
    const auto volume = static_cast<std::uint64_t>(extents.volume()), expected = 4 * volume * stored.link_bytes();
    KS_VALIDATE(payload == expected,
                fmt::format("holds {} bytes of links, and a lattice {} of {} bits with {} rows a link needs {}: it is {}", payload,
                            text(extents), stored.bits, stored.rows, expected,
                            payload < expected ? "truncated, or its header is wrong" : "longer than its header says"),
                where);
    box_ = part_.box(extents);
    const auto needed = static_cast<std::uint64_t>(box_.local.volume()) * 4 * sizeof(Su3<double>) + (1 << 20);
    const auto gibibytes = [](std::uint64_t bytes) { return fmt::format("{:.3g} GiB", static_cast<double>(bytes) / (1u << 30)); };
    KS_VALIDATE(needed <= memory,
                fmt::format("a lattice {} needs {} of memory to be read, and {} are free: take a machine with more memory",
                            text(box_.local), gibibytes(needed), gibibytes(memory)),
                where);
    field_.extents = box_.local;
    resize_touched(field_.links, static_cast<std::size_t>(4 * box_.local.volume()));
}

void LinkReader::Outliers::add(const Outliers& other) {
    if (other.count == 0) return;
    if (count == 0 || other.first < first) first = other.first, distance = other.distance;
    count += other.count;
}

void LinkReader::Found::add(const Found& other) {
    single = single && other.single;
    worst = std::max(worst, other.worst);
    for (const bool within_single : {false, true}) beyond[within_single].add(other.beyond[within_single]);
}

void LinkReader::take(Found& found, index_t site, int mu, const unsigned char* stored) {
    auto& u = field_.link(site, mu);
    found.single &= decode(stored, stored_, u);
    if (stored_.rows == 2) complete_third_row(u);
    const double distance = checked_distance(u);
    found.worst = std::max(found.worst, distance);
    for (const bool single : {false, true})
        if (distance > su3_tolerance(single)) found.beyond[single].add({1, 4 * box_.lattice.lexicographic(box_.site(site)) + mu, distance});
}

/// What the readers of all parts found.
void LinkReader::combine() {
    double most[2] = {found_.worst, found_.single ? 0. : 1.};
    part_.all_reduce(View<double>(most, 2), comm::Reduce::max);
    found_.worst = most[0];
    found_.single = most[1] == 0;
    auto& outliers = found_.beyond[found_.single];
    auto count = static_cast<std::uint64_t>(outliers.count);
    part_.all_reduce(View<std::uint64_t>(&count, 1), comm::Reduce::sum);
    const auto mine = outliers.count > 0 ? static_cast<std::uint64_t>(outliers.first) : std::numeric_limits<std::uint64_t>::max();
    auto first = mine;
    part_.all_reduce(View<std::uint64_t>(&first, 1), comm::Reduce::min);
    double distance = mine == first ? outliers.distance : 0;
    part_.all_reduce(View<double>(&distance, 1), comm::Reduce::max);
    outliers = {static_cast<index_t>(count), static_cast<index_t>(first), distance};
}

void LinkReader::judge_links(GaugeFileFacts& facts) {
    facts.worst_distance_from_su3 = found_.worst;
    const auto& outliers = found_.beyond[found_.single];
    if (found_.single && stored_.bits == 64 && found_.worst > su3_tolerance(false))
        facts.notes.push_back("64 bits hold links of single precision: every number is one of 32 bits");
    if (outliers.count == 0) return;
    const auto s = box_.lattice.site(outliers.first / 4);
    complain(
        fmt::format("{} of its {} links are not in SU(3), first the link of site ({}, {}, {}, {}) in direction {}: {}; up to {:.0e} is "
                    "rounding. It is damaged, or in another format than its header says",
                    outliers.count, 4 * box_.lattice.volume(), s[0], s[1], s[2], s[3], direction(static_cast<int>(outliers.first % 4)),
                    std::isfinite(outliers.distance) ? fmt::format("{:.2g} from unitarity and determinant 1", outliers.distance)
                                                     : "no entry of a unitary matrix can be so large, infinite or not a number",
                    su3_tolerance(found_.single)));
}

void LinkReader::compare_averages(const GaugeFileFacts& facts) {
    const auto compare = [&](const char* what, const std::optional<Stated>& stated, double found) {
        if (!stated || std::abs(found - stated->value) <= stated->tolerance) return;
        complain(
            fmt::format("its header states {} {:.15g}, and that of its links is {:.15g}: they differ by {:.1e}, where {:.1e} is rounding. "
                        "It is damaged, or the header is another file's",
                        what, stated->value, found, std::abs(found - stated->value), stated->tolerance),
            what);
    };
    if (plaquette_) compare(facts.format == GaugeFormat::nersc ? "PLAQUETTE" : "plaquette", plaquette_, part_.plaquette(field_));
    if (link_trace_) compare(facts.format == GaugeFormat::nersc ? "LINK_TRACE" : "link trace", link_trace_, part_.link_trace(field_));
}

GaugeFile LinkReader::finish(GaugeFileFacts facts) {
    combine();
    if (!facts.checksum.ok)
        complain(fmt::format("its checksum ({}) is {}, and that of its links is {}: it is damaged. Take another copy", facts.checksum.kind,
                             facts.checksum.stored, facts.checksum.computed));
    judge_links(facts);
    if (found_.beyond[found_.single].count == 0) compare_averages(facts);
    if (!problems_.empty()) throw InputError(problems_);
    if (plaquette_) facts.stored_plaquette = plaquette_->value;
    if (link_trace_) facts.stored_link_trace = link_trace_->value;
    return {std::move(field_), std::move(facts)};
}

}  // namespace kasane::lattice
