// Preconditions of fields and operators, checked in one place, so that the contract is the same on every space. Lattice<S> and Field<S, P>
// must be defined where these are called.
#pragma once

#include <kasane/core/base/error.hpp>
#include <kasane/lattice/dirac/dirac.hpp>

namespace kasane::lattice {

/// @throws LogicError unless the field of the host is one of this lattice
inline void require_field(const SpinorField& field, const Extents& lattice) {
    KS_REQUIRE(
        field.extents == lattice && static_cast<index_t>(field.values.size()) == 12 * lattice.volume(),
        "a quark field of " + text(field.extents) + " does not fit a lattice of " + text(lattice) + ": make both of the same extents");
}

/// @throws LogicError unless two fields of a space belong to lattices of the same extents
template <class A, class B>
void require_same_lattice(const A& a, const B& b) {
    KS_REQUIRE(a.lattice() == b.lattice() || a.lattice()->extents() == b.lattice()->extents(),
               "fields of " + text(a.lattice()->extents()) + " and " + text(b.lattice()->extents()) + " are used together");
}

/// Checks the arguments of Dirac<S, P>. @throws LogicError where links or A belong to another lattice, or an operator in double would have
/// to store its links in 16 bits
/// @param first  the lattice's first site in that of the links, which have a halo of as many sites around it
template <Space S, Precision P>
void require_operator(const Lattice<S>& lattice, const Links<S>& links, const CloverTerm<S>* A, const LinkStorage& storage,
                      const Site& first = {}) {
    Extents with_halo = lattice.extents();
    for (int mu = 0; mu < 4; ++mu) with_halo.n[mu] += 2 * first[mu];
    KS_REQUIRE(
        links.extents == with_halo && (!A || A->extents == lattice.extents()),
        "the links are of " + text(links.extents) + ", the lattice is " + text(lattice.extents()) + ": make both of the same extents");
    KS_REQUIRE(P != Precision::double_ || !storage.half,
               "links in half precision would spoil an operator in double: use them with single or half");
}

/// Checks that an operator keeps or lacks its clover term. @throws LogicError where packing would add or remove it
inline void require_same_form(bool had_clover, bool has_clover) {
    KS_REQUIRE(had_clover == has_clover,
               "an operator is packed with a clover term exactly where it was made with one: make another operator");
}

/// Checks the arguments of Dirac<S, P>::hop. Returns the form to execute: plain where there is no clover term, because A = 1.
/// @throws LogicError where fields belong to another lattice, in is out, or the clover form has no x
template <Space S, Precision P>
HopForm valid_form(const Lattice<S>& lattice, HopForm form, bool has_clover, const Field<S, P>& in, const Field<S, P>* x,
                   const Field<S, P>& out) {
    KS_REQUIRE(in.lattice()->extents() == lattice.extents() && out.lattice()->extents() == lattice.extents() &&
                   (!x || x->lattice()->extents() == lattice.extents()),
               "a field of another lattice than the operator's is given to a hop");
    KS_REQUIRE(&in != &out, "a hop cannot overwrite the field that it reads from other sites: give it another output field");
    KS_REQUIRE(x || form != HopForm::clover, "a hop with the clover term needs the field x that the term multiplies");
    return has_clover ? form : HopForm::plain;
}

/// Checks the numbers of columns that a hop is given. @throws LogicError
inline void require_columns(std::size_t in, std::size_t x, std::size_t out) {
    KS_REQUIRE(in == out && (x == 0 || x == in),
               "a hop of several columns needs as many fields to write, and as many x or none, as it reads");
}

}  // namespace kasane::lattice
