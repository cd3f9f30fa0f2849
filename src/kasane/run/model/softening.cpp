#include <kasane/run/model/softening.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace kasane::run {
namespace {

const SofteningKeys::Named* find(const SofteningKeys& keys, const std::string& name) {
    const auto found = std::ranges::find(keys.named, name, &SofteningKeys::Named::name);
    return found == keys.named.end() ? nullptr : &*found;
}

std::string type_name(std::size_t type) { return fmt::format("type{}", type); }

/// The texts with commas between them.
std::string listed(const std::vector<std::string>& texts) {
    std::string all;
    for (const auto& text : texts) all += (all.empty() ? "" : ", ") + text;
    return all;
}

/// "halo" of "first/halo".
std::string last_part(const std::string& name) { return name.substr(name.rfind('/') + 1); }

/// The components with particles, and the types of particles that belong to none; `softening` is what the model or snapshot states.
std::vector<GroupSoftening> groups_of(const gravity::SnapshotOutline& outline) {
    std::vector<GroupSoftening> groups;
    auto left = outline.count;
    for (const auto& c : outline.components) {
        if (c.count == 0) continue;
        groups.push_back({c.name, c.first_id, c.count, c.type, c.softening > 0 ? c.softening : outline.softening[c.type]});
        left[c.type] -= std::min(left[c.type], c.count);
    }
    for (std::size_t t = 0; t < gravity::type_count; ++t)
        if (left[t] > 0) groups.push_back({fmt::format("type {}", t), 0, left[t], static_cast<std::uint8_t>(t), outline.softening[t]});
    return groups;
}

}  // namespace

std::string SofteningKeys::text() const {
    if (one()) return "";
    if (named.empty()) return "of the initial particles";
    std::vector<std::string> parts;
    for (const auto& each : named) parts.push_back(fmt::format("{} = {}", each.name, each.value));
    std::ranges::sort(parts);
    return fmt::format("{{{}}}", listed(parts));
}

std::vector<GroupSoftening> resolve(const SofteningKeys& keys, const gravity::SnapshotOutline& outline) {
    auto groups = groups_of(outline);
    std::vector<std::string> known;
    for (const auto& group : groups)
        if (group.first_id > 0) known.insert(known.end(), {group.name, last_part(group.name)});
    for (std::size_t t = 0; t < gravity::type_count; ++t) known.push_back(type_name(t));
    std::vector<InputProblem> problems;
    for (const auto& each : keys.named) {
        if (std::ranges::find(known, each.name) != known.end()) continue;
        std::vector<std::string> names;
        for (const auto& group : groups)
            if (group.first_id > 0) names.push_back(group.name);
        problems.push_back({fmt::format("is not a component of these particles: there are {}{}type0 to type5", listed(names),
                                        names.empty() ? "" : " and "),
                            each.where});
    }
    std::vector<std::string> without;
    std::string example;
    for (auto& group : groups) {
        const SofteningKeys::Named* stated = group.first_id > 0 ? find(keys, group.name) : nullptr;
        if (!stated && group.first_id > 0) stated = find(keys, last_part(group.name));
        if (!stated) stated = find(keys, type_name(group.type));
        if (keys.all)
            group.softening = *keys.all;
        else if (stated)
            group.softening = stated->value;
        else if (!(group.softening > 0)) {
            without.push_back(group.name);
            // A bare key of TOML has no space and no slash.
            const bool bare = group.first_id > 0 && group.name.find_first_of(" /") == std::string::npos;
            if (example.empty()) example = bare ? group.name : type_name(group.type);
        }
    }
    if (!without.empty())
        problems.push_back({fmt::format("is missing for {}, whose model or snapshot states none: give one number for all particles, or a "
                                        "table like softening = {{{} = 0.01}}",
                                        listed(without), example),
                            keys.where});
    if (!problems.empty()) throw InputError(std::move(problems));
    return groups;
}

std::string carried(const gravity::SnapshotOutline& outline) {
    std::vector<std::string> parts;
    for (const auto& group : groups_of(outline))
        if (group.softening > 0) parts.push_back(fmt::format("{} {:.4g}", group.name, group.softening));
    return listed(parts);
}

std::vector<double> softenings(const gravity::Particles& particles, const std::vector<GroupSoftening>& groups) {
    std::vector<GroupSoftening> components;
    std::array<double, gravity::type_count> of_type{};
    for (const auto& group : groups) {
        if (group.first_id > 0)
            components.push_back(group);
        else
            of_type[group.type] = group.softening;
    }
    std::ranges::sort(components, {}, &GroupSoftening::first_id);
    std::vector<double> each(particles.mass.size());
    for (std::size_t i = 0; i < each.size(); ++i) {
        const auto behind = std::ranges::upper_bound(components, particles.id[i], {}, &GroupSoftening::first_id);
        const bool inside = behind != components.begin() && particles.id[i] - std::prev(behind)->first_id < std::prev(behind)->count;
        each[i] = inside ? std::prev(behind)->softening : of_type[particles.type[i]];
    }
    return each;
}

std::array<double, gravity::type_count> by_type(const gravity::Particles& particles) {
    std::array<double, gravity::type_count> found{};
    std::array<bool, gravity::type_count> seen{}, mixed{};
    for (std::size_t i = 0; i < particles.softening.size(); ++i) {
        const auto t = particles.type[i];
        if (seen[t] && found[t] != particles.softening[i]) mixed[t] = true;
        seen[t] = true, found[t] = particles.softening[i];
    }
    for (std::size_t t = 0; t < found.size(); ++t)
        if (mixed[t]) found[t] = 0;
    return found;
}

}  // namespace kasane::run
