// The page of a model: pictures, numbers, profiles, and parameters for a run. One file that fetches nothing.
#pragma once

#include <kasane/gravity/galaxy/facts.hpp>
#include <kasane/gravity/galaxy/tables.hpp>
#include <kasane/gravity/particles/units.hpp>
#include <kasane/run/model/model_preview.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace kasane::run {

/// One galaxy of a model file.
struct GalaxyPart {
    std::string name;  ///< of the object; may be empty
    gravity::GalaxyFacts facts;
    gravity::GalaxyTables tables;
    Preview preview;
};

struct ModelReport {
    std::string title;
    std::string command;  ///< that created it; empty: not known
    std::string file;     ///< name of the model file
    std::string text;     ///< of the model file
    std::string tables;   ///< name of the HDF5 tables; empty: none
    gravity::Units units;
    std::vector<std::string> papers;
    std::vector<GalaxyPart> galaxies;
};

/// Computes tables and preview of a galaxy, which takes some seconds.
GalaxyPart describe(const std::string& name, const gravity::Galaxy& galaxy, const gravity::GalaxyFacts& facts, Cpu on = {});

/// Writes the page atomically. @throws InputError: not writable; ComputationError: disk full
void write_model_report(const std::filesystem::path& html, const ModelReport& report);

std::string model_page(const ModelReport& report);

// Parts of the page, as HTML.
std::string model_curves(const GalaxyPart& part, const gravity::Units& units);
extern const char* const model_style;  ///< CSS beside the run report's

}  // namespace kasane::run
