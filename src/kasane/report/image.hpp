// Small RGB pictures, written as PNG by libpng and carried inside a page as base64.
#pragma once

#include <kasane/report/color.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace kasane::report {

/// Row by row from the top left; holds width * height pixels.
struct Image {
    int width = 0, height = 0;
    std::vector<Rgb> pixel;
};

/// An image with at most 256 colours: a third of the bytes before compression, and less after it.
struct IndexedImage {
    int width = 0, height = 0;
    std::vector<Rgb> color;
    std::vector<std::uint8_t> pixel;  ///< an index into color
};

/// PNG, 8 bits per channel or per index. @throws ComputationError where the picture is empty or libpng fails
std::vector<std::uint8_t> encode_png(const Image& image);
std::vector<std::uint8_t> encode_png(const IndexedImage& image);

/// Every pixel of the result is the mean of factor * factor pixels; a remainder at the right and bottom is cut off.
Image shrink(const Image& image, int factor);

/// RFC 4648, with padding.
std::string base64(const std::vector<std::uint8_t>& bytes);

/// "data:image/png;base64,..."
std::string data_uri(const std::vector<std::uint8_t>& png);

}  // namespace kasane::report
