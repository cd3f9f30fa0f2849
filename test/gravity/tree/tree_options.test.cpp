// Options of the tree out of range: refused with the problem and a remedy. Names. Memory.
#include <kasane/core/base/error.hpp>
#include <kasane/gravity/tree/tree.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <limits>

namespace kasane::gravity {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN(), infinite = std::numeric_limits<double>::infinity();

/// Message of validate() for the default options with one change; empty if it accepts them.
std::string complaint(const std::function<void(Tree&)>& change) {
    Tree options;
    change(options);
    try {
        validate(options);
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

void expect_complaint(const std::function<void(Tree&)>& change, const std::string& key) {
    const auto said = complaint(change);
    EXPECT_TRUE(said.starts_with(key + " = ")) << key << ": \"" << said << '"';
    EXPECT_NE(said.find("take "), std::string::npos) << "no remedy in: " << said;
}

TEST(TreeOptions, AcceptsDefaultsAndLimits) {
    EXPECT_EQ(complaint([](Tree&) {}), "");
    EXPECT_EQ(complaint([](Tree& tree) { tree.mac = GeometricMac{1}; }), "");
    EXPECT_EQ(complaint([](Tree& tree) { tree.mac = GeometricMac{1e-3}; }), "");
    EXPECT_EQ(complaint([](Tree& tree) { tree.mac = MultipoleMac{1e-30}; }), "");
    for (const int leaf_size : {1, 64}) EXPECT_EQ(complaint([=](Tree& tree) { tree.leaf_size = leaf_size; }), "");
    for (const int number : {1, 3, 32}) EXPECT_EQ(complaint([=](Tree& tree) { tree.vector = tree.group = number; }), "");
    EXPECT_EQ(complaint([](Tree& tree) { tree.softening = 0; }), "");
}

TEST(TreeOptions, RefusesValuesOutOfRange) {
    for (const double theta : {0., -0.5, 1.0000001, 1.7, not_a_number, infinite})
        expect_complaint([=](Tree& tree) { tree.mac = GeometricMac{theta}; }, "theta");
    for (const double delta : {0., -1e-3, not_a_number, infinite})
        expect_complaint([=](Tree& tree) { tree.mac = AccelerationMac{delta}; }, "delta");
    for (const double error : {0., -1e-3, not_a_number, infinite})
        expect_complaint([=](Tree& tree) { tree.mac = MultipoleMac{error}; }, "error");
    for (const int leaf_size : {0, -1, 65}) expect_complaint([=](Tree& tree) { tree.leaf_size = leaf_size; }, "leaf_size");
    for (const double softening : {-0.1, not_a_number, infinite})
        expect_complaint([=](Tree& tree) { tree.softening = softening; }, "softening");
    for (const double G : {-1., not_a_number, infinite}) expect_complaint([=](Tree& tree) { tree.G = G; }, "G");
    for (const int number : {0, 33}) {
        expect_complaint([=](Tree& tree) { tree.vector = number; }, "vector");
        expect_complaint([=](Tree& tree) { tree.group = number; }, "group");
    }
}

TEST(TreeOptions, NamesAreReadBack) {
    for (const auto walk : {TreeWalk::automatic, TreeWalk::links, TreeWalk::lists}) EXPECT_EQ(tree_walk_named(name(walk)), walk);
    EXPECT_THROW(tree_walk_named("list"), InputError);
    EXPECT_EQ(name(Multipole::quadrupole), "quadrupole");
    EXPECT_EQ(name(Curve::hilbert), "hilbert");
}

TEST(TreeOptions, MemoryGrowsWithParticlesAndMultipole) {
    Tree tree;
    const auto at = [&](index_t n) { return tree_memory(Cpu{}, n, tree); };
    EXPECT_GT(at(1 << 20), at(1 << 19));
    EXPECT_GT(at(index_t{1} << 27), 40 * (std::uint64_t{1} << 27)) << "bodies, keys and order alone";
    const auto with_quadrupoles = at(1 << 20);
    tree.multipole = Multipole::monopole;
    EXPECT_LT(at(1 << 20), with_quadrupoles);
}

}  // namespace
}  // namespace kasane::gravity
