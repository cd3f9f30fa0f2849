#include <app/sample_result.hpp>
#include <kasane/run/model/model_facts.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace kasane::app {
namespace {

/// "\n" + each line of the text, indented.
std::string indented(const std::string& text) {
    std::string out = "\n  ";
    for (const char c : text) {
        out += c;
        if (c == '\n') out += "  ";
    }
    return out;
}

}  // namespace

SourceFacts facts_of(const run::Sampling& sampling, std::size_t sources, Cpu on) {
    SourceFacts all(sources);
    for (std::size_t i = 0; i < sources; ++i)
        if (const auto* galaxy = sampling.galaxy(i)) {
            all[i] = gravity::facts(*galaxy, on);
            all[i]->warnings = sampling.warnings(i);
        }
    return all;
}

SampleResult sample_result(const run::ModelFile& model, const gravity::SnapshotOutline& outline, const SourceFacts& facts) {
    SampleResult result;
    auto components = io::Json::array(), galaxies = io::Json::array();
    const auto& parts = outline.components;
    for (const auto& c : parts)
        components.push_back({{"name", c.name}, {"model", c.law}, {"count", c.count}, {"type", c.type}, {"mass", c.mass}});
    const auto& sources = model.initial.sources;
    auto part = parts.begin();
    for (std::size_t i = 0; i < sources.size(); ++i) {
        const auto& source = sources[i];
        const auto first = part;  // a source's parts follow one another
        for (auto left = static_cast<std::uint64_t>(source.count); left > 0 && part != parts.end(); ++part)
            left -= std::min(left, part->count);
        if (facts[i]) {
            galaxies.push_back(run::facts_json(*facts[i], model.units));
            if (!source.name.empty()) galaxies.back()["name"] = source.name;
            if (sources.size() > 1) result.text += fmt::format("\n{}:", source.name.empty() ? std::to_string(i + 1) : source.name);
            result.text += indented(run::facts_text(*facts[i], model.units));
            continue;
        }
        for (auto c = first; c != part; ++c)
            result.text += fmt::format("\n  {:<20} {:<18} {:>12} of type {}, mass {:.6g}{}", c->name, c->law, c->count, c->type, c->mass,
                                       model.units.mass_name.empty() ? "" : " [" + model.units.mass_name + "]");
    }
    result.object = {{"file", ""}, {"n", model.initial.count()}, {"units", model.units.name}, {"components", components}};
    if (!galaxies.empty()) result.object["galaxies"] = galaxies;
    return result;
}

}  // namespace kasane::app
