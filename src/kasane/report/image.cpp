// PNG by libpng. Pictures of particles are noisy, and a search for repeated strings finds few in them: runs of equal bytes and Huffman
// codes after Paeth's filter need a sixth of the time of zlib's default, and about as many bytes. Base64 is ten lines of its own.
#include <kasane/core/base/error.hpp>
#include <kasane/report/image.hpp>

#include <png.h>
#include <zlib.h>

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <utility>

namespace kasane::report {
namespace {

/// A picture as libpng takes it, and the file that it writes.
struct Encoding {
    int width, height;
    const std::uint8_t* pixels;      ///< rows without padding
    const std::vector<Rgb>& colors;  ///< empty: a pixel is an Rgb, otherwise an index into them
    std::vector<std::uint8_t> file;
    char problem[120] = "out of memory";
};

/// libpng jumps from here to setjmp(), over frames of C and of trivial objects alone.
[[noreturn]] void fail(png_structp png, png_const_charp text) {
    auto& problem = static_cast<Encoding*>(png_get_error_ptr(png))->problem;
    std::snprintf(problem, sizeof problem, "%s", text);
    png_longjmp(png, 1);
}
void ignore(png_structp, png_const_charp) {}
void append(png_structp png, png_bytep data, std::size_t size) {
    auto& file = static_cast<Encoding*>(png_get_io_ptr(png))->file;
    if (file.capacity() - file.size() < size) png_error(png, "the picture is larger than expected");
    file.insert(file.end(), data, data + size);
}

/// @return whether the file was written
bool write(png_structp png, png_infop info, Encoding& e) {
    if (setjmp(png_jmpbuf(png)) != 0) return false;
    const bool indexed = !e.colors.empty();
    png_set_write_fn(png, &e, append, nullptr);
    png_set_compression_level(png, 1);
    png_set_compression_strategy(png, Z_RLE);
    png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_PAETH);
    png_set_IHDR(png, info, static_cast<png_uint_32>(e.width), static_cast<png_uint_32>(e.height), 8,
                 indexed ? PNG_COLOR_TYPE_PALETTE : PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_set_sRGB(png, info, PNG_sRGB_INTENT_PERCEPTUAL);
    if (indexed) png_set_PLTE(png, info, reinterpret_cast<png_const_colorp>(e.colors.data()), static_cast<int>(e.colors.size()));
    png_write_info(png, info);
    const std::size_t row = static_cast<std::size_t>(e.width) * (indexed ? 1 : sizeof(Rgb));
    for (int y = 0; y < e.height; ++y) png_write_row(png, e.pixels + static_cast<std::size_t>(y) * row);
    png_write_end(png, info);
    return true;
}

std::vector<std::uint8_t> encode(int width, int height, const void* pixels, const std::vector<Rgb>& colors) {
    static_assert(sizeof(Rgb) == sizeof(png_color));
    Encoding e{width, height, static_cast<const std::uint8_t*>(pixels), colors, {}};
    const auto bytes = static_cast<std::size_t>(std::max(height, 0)) * (static_cast<std::size_t>(std::max(width, 0)) * 3 + 1);
    e.file.reserve(bytes + bytes / 8 + 4096);  // deflate adds less, and chunks have 8 kB
    auto* png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &e, fail, ignore);
    auto* info = png ? png_create_info_struct(png) : nullptr;
    const bool written = info && write(png, info, e);
    png_destroy_write_struct(&png, &info);
    if (!written) throw ComputationError(std::string("libpng cannot encode a picture: ") + e.problem);
    e.file.shrink_to_fit();  // a film keeps many pictures
    return std::move(e.file);
}

}  // namespace

std::vector<std::uint8_t> encode_png(const Image& image) { return encode(image.width, image.height, image.pixel.data(), {}); }

std::vector<std::uint8_t> encode_png(const IndexedImage& image) {
    return encode(image.width, image.height, image.pixel.data(), image.color);
}

Image shrink(const Image& image, int factor) {
    Image small{image.width / factor, image.height / factor, {}};
    for (int y = 0; y < small.height; ++y)
        for (int x = 0; x < small.width; ++x) {
            int r = 0, g = 0, b = 0;
            for (int j = 0; j < factor; ++j)
                for (int i = 0; i < factor; ++i) {
                    const auto& p = image.pixel[static_cast<std::size_t>((y * factor + j) * image.width + x * factor + i)];
                    r += p.r, g += p.g, b += p.b;
                }
            const int n = factor * factor;
            small.pixel.push_back({static_cast<std::uint8_t>((r + n / 2) / n), static_cast<std::uint8_t>((g + n / 2) / n),
                                   static_cast<std::uint8_t>((b + n / 2) / n)});
        }
    return small;
}

std::string base64(const std::vector<std::uint8_t>& bytes) {
    static constexpr char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const std::size_t n = std::min<std::size_t>(3, bytes.size() - i);
        std::uint32_t word = bytes[i] << 16;
        if (n > 1) word |= bytes[i + 1] << 8;
        if (n > 2) word |= bytes[i + 2];
        for (std::size_t k = 0; k < 4; ++k) text += k <= n ? digit[word >> (18 - 6 * k) & 63] : '=';
    }
    return text;
}

std::string data_uri(const std::vector<std::uint8_t>& png) { return "data:image/png;base64," + base64(png); }

}  // namespace kasane::report
