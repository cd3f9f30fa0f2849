#include <kasane/gravity/check_range.hpp>
#include <kasane/run/model/initial.hpp>
#include <kasane/run/gravity/method_keys.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <type_traits>

namespace kasane::run {
namespace {

using gravity::Dimension;

/// Records a problem for each given key that only has an effect with another choice.
void refuse(io::Section& table, std::initializer_list<const char*> keys, const std::string& needed, const std::string& chosen) {
    for (const char* key : keys)
        if (table.has(key))
            table.problem(key, fmt::format("has no effect here: it belongs to {}, and this run has {}. Remove it, or take {}", needed,
                                           chosen, needed));
}

/// A number whose range has a reason, which the message states. @param schema  with a default
double reasoned_number(io::Section& table, const char* key, const io::NumberKey& schema, const io::Range& range,
                       const std::string& reason) {
    const double value = table.number(key, schema);
    if (!range.contains(value)) table.problem(key, fmt::format("is {}, out of range: it must be {}. {}", value, range.text(), reason));
    return value;
}

/// An option with two values, by their names.
template <class Option>
Option one_of(io::Section& table, const char* key, const char* help, Option fallback, Option first, Option second) {
    const auto chosen = table.text(key, {.help = help, .fallback = name(fallback), .choices = {name(first), name(second)}});
    return chosen == name(first) ? first : second;
}

std::string acceleration_unit(const gravity::Units& units) {
    return units.length_name.empty() ? "length / time^2" : fmt::format("({})^2 / {}", units.velocity_name, units.length_name);
}

gravity::Direct read_direct(io::Section& table, const AnySpace& space) {
    refuse(table, {"mac", "delta", "theta", "error", "multipole", "leaf_size", "walk", "curve", "vector", "group"}, "method = \"tree\"",
           "method = \"direct\"");
    gravity::Direct direct;
    direct.precision = one_of(table, "precision", "of the arithmetic of a pair", direct.precision, gravity::Precision::single_,
                              gravity::Precision::double_);
    const auto variant = table.text(
        "variant", {.help = "kernel; auto is the fastest", .fallback = "auto", .choices = {"auto", "plain", "simd", "tile", "pair"}});
    direct.variant = variant == "auto" ? gravity::DirectVariant::automatic : gravity::direct_variant_named(variant);
    const bool cpu = kasane::name(space) == "cpu";
    if ((cpu && (variant == "tile" || variant == "pair")) || (!cpu && variant == "simd"))
        table.problem("variant", fmt::format("'{}' is not for this device ({}): take auto", variant, kasane::name(space)));
    return direct;
}

gravity::Mac read_mac(io::Section& table, const gravity::Units& units) {
    const auto mac = table.text("mac", {.help = "criterion that accepts a cell",
                                        .fallback = name_of(gravity::Tree{}.mac),
                                        .choices = {"acceleration", "geometric", "multipole"}});
    const auto other = [&](std::initializer_list<const char*> keys, const char* owner) {
        refuse(table, keys, fmt::format("mac = \"{}\"", owner), fmt::format("mac = \"{}\"", mac));
    };
    if (mac != "acceleration") other({"delta"}, "acceleration");
    if (mac != "geometric") other({"theta"}, "geometric");
    if (mac != "multipole") other({"error"}, "multipole");
    if (mac == "geometric") {
        const double theta =
            reasoned_number(table, "theta", {.help = "opening angle; smaller is more accurate", .fallback = gravity::GeometricMac{}.theta},
                            {.least = 0, .most = 1, .open_least = true},
                            "The error of a cell is bounded only for an opening angle up to 1, and 0 opens every cell. Try 0.6");
        return gravity::GeometricMac{theta};
    }
    if (mac == "multipole")
        return gravity::MultipoleMac{table.number(
            "error",
            {.help = "largest error of the acceleration that one cell makes", .unit = acceleration_unit(units), .range = io::above(0)})};
    const double delta = reasoned_number(
        table, "delta",
        {.help = "largest error of one cell, in parts of the particle's last acceleration", .fallback = gravity::AccelerationMac{}.delta},
        io::above(0), "It is the relative error of the acceleration that each cell may cause. Try 0.002");
    return gravity::AccelerationMac{delta};
}

gravity::Tree read_tree(io::Section& table, const gravity::Units& units) {
    refuse(table, {"precision", "variant"}, "method = \"direct\"", "method = \"tree\"");
    gravity::Tree tree;
    tree.mac = read_mac(table, units);
    tree.multipole =
        one_of(table, "multipole", "expansion of a cell", tree.multipole, gravity::Multipole::monopole, gravity::Multipole::quadrupole);
    tree.leaf_size = static_cast<int>(
        table.integer("leaf_size", {.help = "a cell with more particles is divided", .fallback = tree.leaf_size, .least = 1, .most = 64}));
    tree.curve = one_of(table, "curve", "order of the particles in memory", tree.curve, gravity::Curve::hilbert, gravity::Curve::morton);
    const auto walk = table.text(
        "walk", {.help = "way through the tree; auto is the fastest", .fallback = "auto", .choices = {"auto", "links", "lists"}});
    tree.walk = walk == "auto" ? gravity::TreeWalk::automatic : gravity::tree_walk_named(walk);
    if (walk == "links") {
        tree.vector =
            static_cast<int>(table.integer("vector", {.help = "targets of one thread", .fallback = tree.vector, .least = 1, .most = 32}));
        tree.group = static_cast<int>(table.integer(
            "group", {.help = "threads that accept or open a cell together", .fallback = tree.group, .least = 1, .most = 32}));
    } else
        refuse(table, {"vector", "group"}, "walk = \"links\"", fmt::format("walk = \"{}\"", walk));
    return tree;
}

template <class Control>
gravity::Steps read_control(io::Section& table, const gravity::Units& units, const gravity::Force& force, const SofteningKeys& softening) {
    Control control;
    const auto time = parse(Dimension::time, units);
    control.dt_max = table.number("dt_max", {.help = "the longest step; all particles are at one time at its multiples",
                                             .unit = units.time_name,
                                             .range = io::above(0),
                                             .parse = time});
    control.eta = reasoned_number(table, "eta", {.help = "accuracy of the steps", .fallback = control.eta}, io::above(0),
                                  "A step is eta times a length over a speed: without eta there is no step. Try 0.5");
    control.criterion = one_of(table, "criterion", "what limits a step", control.criterion,
                               gravity::StepCriterion::velocity_and_acceleration, gravity::StepCriterion::acceleration);
    control.deepest = static_cast<int>(
        table.integer("deepest", {.help = "the shortest step is dt_max / 2^deepest", .fallback = control.deepest, .least = 0, .most = 30}));
    if (is_softened(force, softening))
        refuse(table, {"length"}, "force.softening = 0",
               softening.one() ? fmt::format("force.softening = {}", *softening.all) : "a softening above 0 for all particles");
    else
        control.length = table.number("length", {.help = "length in place of the softening; 0: mean distance inside the half-mass radius",
                                                 .unit = units.length_name,
                                                 .fallback = control.length,
                                                 .range = io::at_least(0),
                                                 .parse = parse(Dimension::length, units)});
    return control;
}

void check_softening(io::Section& table, const gravity::Direct& direct) {
    if (table.faulty("force.softening")) return;
    try {
        gravity::check_options(direct);
    } catch (const InputError& error) {
        table.problem("softening", error);
    }
}

}  // namespace

SofteningKeys read_softening(io::Section& table, const gravity::Units& units) {
    SofteningKeys keys;
    keys.where = table.where("softening");
    const io::NumberKey schema{.help = "softening eps (Plummer-equivalent)",
                               .unit = units.length_name,
                               .range = io::at_least(0),
                               .parse = parse(Dimension::length, units)};
    if (!table.has("softening")) return keys;
    if (!table.has_table("softening")) {
        keys.all = table.number("softening", schema);
        return keys;
    }
    auto each = table.table("softening", "eps of components and types; the model or snapshot states those of the others");
    for (const auto& name : each.keys()) keys.named.push_back({name, each.number(name, schema), each.where(name)});
    return keys;
}

gravity::Force read_force(io::Section table, const gravity::Units& units, const AnySpace& space, SofteningKeys& softening) {
    const auto method = table.text("method", {.help = "of the forces", .fallback = "direct", .choices = {"direct", "tree"}});
    softening = read_softening(table, units);
    const auto kernel = one_of(table, "softening_kernel", "form of a softened pair", gravity::SofteningKernel::plummer,
                               gravity::SofteningKernel::plummer, gravity::SofteningKernel::spline);
    const auto refuse_combined = [&](const char* key, const std::string& value, const char* remedy) {
        if (softening.one() && kernel == gravity::SofteningKernel::plummer) return false;
        table.problem(key, fmt::format("'{}' takes one Plummer softening for all particles, and {}: take {}", value,
                                       kernel == gravity::SofteningKernel::spline ? "this run has softening_kernel = \"spline\""
                                                                                  : "each component or type has its own here",
                                       remedy));
        return true;
    };
    table.unused("accumulation");  // a key of version 0.1
    const auto force = method == "tree" ? gravity::Force(read_tree(table, units)) : gravity::Force(read_direct(table, space));
    return std::visit(
        [&](auto chosen) {
            chosen.softening_kernel = kernel;
            chosen.softening_per_particle = !softening.one();
            if (softening.one()) chosen.softening = *softening.all;
            for (const auto& each : softening.named)
                chosen.softening = &each == softening.named.data() ? each.value : std::min(chosen.softening, each.value);
            chosen.G = units.G;
            if constexpr (std::is_same_v<decltype(chosen), gravity::Direct>) {
                if (chosen.variant == gravity::DirectVariant::pair && refuse_combined("variant", "pair", "auto or tile"))
                    chosen.variant = gravity::DirectVariant::automatic;
                check_softening(table, chosen);
            } else if (chosen.walk == gravity::TreeWalk::links) {
                refuse_combined("walk", "links", "auto or lists");
            }
            return gravity::Force(chosen);
        },
        force);
}

bool is_softened(const gravity::Force& force, const SofteningKeys& softening) {
    return gravity::softening(force) > 0 || (!softening.one() && softening.named.empty());
}

gravity::Steps read_steps(io::Section table, const gravity::Units& units, const gravity::Force& force, const SofteningKeys& softening) {
    const auto method = table.text("method", {.help = "leapfrog: constant; adaptive: one step for all; block: one for each particle",
                                              .fallback = "leapfrog",
                                              .choices = {"leapfrog", "adaptive", "block"}});
    const auto chosen = fmt::format("method = \"{}\"", method);
    if (method == "leapfrog") {
        refuse(table, {"dt_max", "eta", "criterion", "deepest", "length"}, "method = \"block\" (or \"adaptive\")", chosen);
        return gravity::Leapfrog{table.number(
            "dt", {.help = "time step", .unit = units.time_name, .range = io::above(0), .parse = parse(Dimension::time, units)})};
    }
    refuse(table, {"dt"}, "method = \"leapfrog\"", chosen + ", whose longest step is dt_max");
    return method == "block" ? read_control<gravity::BlockSteps>(table, units, force, softening)
                             : read_control<gravity::AdaptiveSteps>(table, units, force, softening);
}

const char* step_key(const gravity::Steps& steps) { return control_of(steps) ? "dt_max" : "dt"; }

std::string name(gravity::Precision precision) { return precision == gravity::Precision::double_ ? "double" : "single"; }
std::string name(gravity::StepCriterion criterion) {
    return criterion == gravity::StepCriterion::acceleration ? "acceleration" : "velocity-and-acceleration";
}

std::string name_of(const gravity::Mac& mac) {
    return std::holds_alternative<gravity::GeometricMac>(mac)      ? "geometric"
           : std::holds_alternative<gravity::AccelerationMac>(mac) ? "acceleration"
                                                                   : "multipole";
}
std::string name_of(const gravity::Force& force) { return std::holds_alternative<gravity::Tree>(force) ? "tree" : "direct"; }
std::string name_of(const gravity::Steps& steps) {
    return std::holds_alternative<gravity::Leapfrog>(steps)        ? "leapfrog"
           : std::holds_alternative<gravity::AdaptiveSteps>(steps) ? "adaptive"
                                                                   : "block";
}

const gravity::StepControl* control_of(const gravity::Steps& steps) {
    if (const auto* adaptive = std::get_if<gravity::AdaptiveSteps>(&steps)) return adaptive;
    return std::get_if<gravity::BlockSteps>(&steps);
}

}  // namespace kasane::run
