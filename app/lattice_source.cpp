#include <app/lattice_source.hpp>
#include <kasane/core/base/error.hpp>

#include <fmt/format.h>

#include <charconv>

namespace kasane::app {

LatticeSource LatticeSource::parse(const std::string& text) {
    const auto colon = text.find(':');
    const auto word = text.substr(0, colon);
    LatticeSource source;
    source.kind = word == "wall" ? Kind::wall : word == "random" ? Kind::gaussian : word == "z2" ? Kind::z2 : Kind::point;
    bool good = colon != std::string::npos && (source.kind != Kind::point || word == "point");
    for (std::size_t at = colon; good && at < text.size();) {  // at a colon or comma
        std::int64_t value = 0;
        const auto [end, error] = std::from_chars(text.data() + at + 1, text.data() + text.size(), value);
        source.numbers.push_back(value);
        at = static_cast<std::size_t>(end - text.data());
        good = error == std::errc{} && value >= 0 && (at == text.size() || text[at] == ',');
    }
    good = good && source.numbers.size() == (source.kind == Kind::point ? 4 : 1);
    KS_VALIDATE(good, "is " + text + ": it must be point:x,y,z,t, wall:t, random:seed or z2:seed, in whole numbers of at least 0",
                {"", 0, 0, "--source"});
    return source;
}

void LatticeSource::check(const lattice::Extents& n) const {
    const auto inside = [&](std::int64_t value, int mu) {
        KS_VALIDATE(
            value < n[mu],
            fmt::format("{} = {} lies outside the lattice, which is {}: it must be below {}", "xyzt"[mu], value, lattice::text(n), n[mu]),
            {"", 0, 0, "--source"});
    };
    if (kind == Kind::point)
        for (int mu = 0; mu < 4; ++mu) inside(numbers[static_cast<std::size_t>(mu)], mu);
    if (kind == Kind::wall) inside(numbers[0], 3);
}

std::optional<lattice::PropagatorSource> LatticeSource::propagator() const {
    const auto at = [&](std::size_t i) { return static_cast<int>(numbers[i]); };
    if (kind == Kind::point) return lattice::PropagatorSource{{{at(0), at(1), at(2), at(3)}}};
    if (kind == Kind::wall) return lattice::PropagatorSource{{{0, 0, 0, at(0)}}, true};
    return {};
}

void LatticeSource::fill(int c, lattice::SpinorField& field) const {
    if (const auto source = propagator())
        source->fill(c, field);
    else
        field = random_source(field.extents, static_cast<std::uint64_t>(numbers[0]),
                              kind == Kind::z2 ? lattice::Noise::z2 : lattice::Noise::gaussian);
}

}  // namespace kasane::app
