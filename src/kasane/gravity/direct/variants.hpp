// The seams between DirectSum and its variants; internal to gravity/direct.
#pragma once

#include <kasane/gravity/direct/direct.hpp>

namespace kasane::gravity::detail {

/// Any space, no scratch.
template <Space S>
void direct_plain(S on, const Direct& options, View<const Vec3<double>> targets, const Sources& sources, Self self, const Field& out);

/// Options that every space refuses. @throws InputError
void validate(const Direct& options);

}  // namespace kasane::gravity::detail
