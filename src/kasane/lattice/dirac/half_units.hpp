// Units of numbers in 16 bits. An integer i of a spinor stands for (i + 1/2) / 32767.5 times the site's scale; an integer i of links, and
// of clover terms with a scale, stands for i / 32767.
#pragma once

namespace kasane::lattice {

inline constexpr float spinor_unit = 1 / 32767.5f, integer_unit = 1 / 32767.f;

}  // namespace kasane::lattice
