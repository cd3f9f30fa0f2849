#include <kasane/core/io/json_value.hpp>
#include <kasane/run/model/model_facts.hpp>
#include <kasane/report/words.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kasane::run {

using namespace report;

namespace {

std::string with(double value, const std::string& unit) { return number(value) + (unit.empty() ? "" : "\u00a0" + unit); }

}  // namespace

std::string mass_text(double mass, const gravity::Units& units) {
    const auto [exponent, unit] = powered_unit(units.mass_name);
    return with(mass * std::pow(10, exponent), unit);
}

std::string length_text(double length, const gravity::Units& units) {
    const bool small = units.length_name == "kpc" && std::abs(length) < 0.1;
    return small ? with(1000 * length, "pc") : with(length, pretty_unit(units.length_name));
}

std::string velocity_text(double velocity, const gravity::Units& units) { return with(velocity, pretty_unit(units.velocity_name)); }

std::string time_text(double time, const gravity::Units& units) {
    const double years = time * units.time_s() / 3.15576e7;  // Julian
    if (!(years >= 1 && years < 1e13)) return with(time, "");
    static constexpr std::pair<double, const char*> scales[] = {{1e9, "Gyr"}, {1e6, "Myr"}, {1e3, "kyr"}, {1, "yr"}};
    for (const auto& [length, unit] : scales)
        if (years >= 0.5 * length) return with(years / length, unit);
    return with(years, "yr");
}

std::string step_text(const std::string& number, double time, const gravity::Units& units) {
    if (units.time_name.empty()) return number;
    return fmt::format("{} × {} ({})", number, pretty_unit(units.time_name), time_text(time, units));
}

std::string run_file_lines(const gravity::GalaxyFacts& facts, const gravity::Units& units) {
    if (!(facts.suggested_softening > 0 && facts.suggested_dt_max > 0)) return "";
    const auto softening = fmt::format("softening = {:.2g}", facts.suggested_softening);
    const auto dt_max = fmt::format("dt_max = {}", facts.suggested_dt_max);
    const auto wide = std::max(softening.size(), dt_max.size()) + 2;
    const auto line = [&](const std::string& text, const std::string& unit) {
        return unit.empty() ? text : fmt::format("{:<{}}# [{}]", text, wide, unit);
    };
    return fmt::format("[force]\nmethod = \"tree\"\n{}\n\n[step]\nmethod = \"block\"\n{}\neta = 0.5\n", line(softening, units.length_name),
                       line(dt_max, units.time_name));
}

io::Json facts_json(const gravity::GalaxyFacts& f, const gravity::Units& units) {
    io::Json all;
    const auto put = [](io::Json& to, const auto& facts) {
        for_each_number(facts, [&](const char* key, double value) {
            if (value != 0) to[key] = value;
        });
    };
    const auto named = [](const std::string& name) { return name.empty() ? io::Json(nullptr) : io::Json(name); };
    all["units"] = {{"length", named(units.length_name)},
                    {"mass", named(units.mass_name)},
                    {"velocity", named(units.velocity_name)},
                    {"time", named(units.time_name)}};
    all["n"] = f.count;
    put(all, f);
    auto& components = all["components"] = io::Json::array();
    for (const auto& c : f.components) {
        io::Json one{{"name", c.label}, {"law", c.law}, {"n", c.count}};
        put(one, c);
        components.push_back(std::move(one));
    }
    if (!f.warnings.empty()) all["warnings"] = f.warnings;
    return all;
}

std::string facts_text(const gravity::GalaxyFacts& f, const gravity::Units& units) {
    const auto plain = [](double value) { return value != 0 ? fmt::format("{:.4g}", value) : std::string("-"); };
    const auto head = [](const std::string& name, const std::string& unit) { return unit.empty() ? name : name + " [" + unit + "]"; };
    std::vector<std::vector<std::string>> rows;
    rows.push_back({"component", "law", "particles", head("mass", units.mass_name), head("half-mass radius", units.length_name),
                    head("dispersion", units.velocity_name), "Q min", head("softening", units.length_name)});
    for (const auto& c : f.components)
        rows.push_back({c.label, c.law, grouped(c.count), plain(c.mass), plain(c.half_mass_radius), plain(c.dispersion), plain(c.least_q),
                        plain(c.suggested_softening)});
    rows.push_back({"all", "", grouped(f.count), plain(f.mass), plain(f.half_mass_radius), "", "", plain(f.suggested_softening)});
    bool has_disk = false;
    for (const auto& c : f.components) has_disk = has_disk || c.least_q > 0;
    constexpr std::size_t q_column = 6;
    std::string text;
    for (const auto& row : rows) {
        std::string line;
        for (std::size_t k = 0; k < row.size(); ++k) {
            if (k == q_column && !has_disk) continue;
            std::size_t wide = 0;
            for (const auto& other : rows) wide = std::max(wide, other[k].size());
            line += k < 2 ? fmt::format("{:<{}}  ", row[k], wide) : fmt::format("{:>{}}  ", row[k], wide);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + '\n';
    }
    if (f.half_mass_radius > 0) {
        text += fmt::format("virial ratio 2K/|W| {:.4f}, escape speed {} at {}, dynamical time {}\n", f.virial_ratio,
                            velocity_text(f.escape_speed, units), f.escape_radius > 0 ? length_text(f.escape_radius, units) : "the centre",
                            time_text(f.dynamical_time, units));
        text += fmt::format("for a run: softening = {:.2g}{}, and steps of {} for all or block steps with dt_max = {}",
                            f.suggested_softening, units.length_name.empty() ? "" : " " + units.length_name,
                            step_text(fmt::format("{:.2g}", f.suggested_step), f.suggested_step, units),
                            step_text(fmt::format("{}", f.suggested_dt_max), f.suggested_dt_max, units));
        constexpr std::string_view nbsp = "\u00a0";
        for (auto at = text.find(nbsp); at != std::string::npos; at = text.find(nbsp, at)) text.replace(at, nbsp.size(), " ");
    } else {
        text.pop_back();
    }
    return text;
}

}  // namespace kasane::run
