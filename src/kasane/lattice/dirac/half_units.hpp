// Units of numbers in 16 bits. Of a spinor the integer i stands for (i + 1/2) / 32767.5 times the site's scale, of links, and of clover
// terms with a scale, for i / 32767.
#pragma once

namespace kasane::lattice {

inline constexpr float spinor_unit = 1 / 32767.5f, integer_unit = 1 / 32767.f;

}  // namespace kasane::lattice
