// The result of `kasane sample`: one JSON object, and a table for people.
#pragma once

#include <kasane/core/io/json_value.hpp>
#include <kasane/gravity/galaxy/facts.hpp>
#include <kasane/run/model_file.hpp>
#include <kasane/run/model/sampling.hpp>

#include <optional>
#include <string>
#include <vector>

namespace kasane::app {

struct SampleResult {
    io::Json object;   ///< "n", "units", "components", "galaxies"
    std::string text;  ///< lines, each after a line break
};

/// One entry per source; empty for sources that are not galaxies.
using SourceFacts = std::vector<std::optional<gravity::GalaxyFacts>>;
/// @param sampling  built
SourceFacts facts_of(const run::Sampling& sampling, std::size_t sources, Cpu on = {});

SampleResult sample_result(const run::ModelFile& model, const gravity::SnapshotOutline& outline, const SourceFacts& facts);

}  // namespace kasane::app
