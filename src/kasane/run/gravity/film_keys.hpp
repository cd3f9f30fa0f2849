// output.film of a run file; the page reads it from the resolved run file.
#pragma once

namespace kasane::run {

inline constexpr const char* film_key = "film";
inline constexpr const char* film_of_stars = "stars";

}  // namespace kasane::run
