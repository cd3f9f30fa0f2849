// PNG through libpng's simplified interface, which does not jump over C++ frames. Base64 is ten lines of its own.
#include <kasane/core/base/error.hpp>
#include <kasane/report/image.hpp>

#include <png.h>

#include <algorithm>

namespace kasane::report {
namespace {

std::vector<std::uint8_t> encode(int width, int height, png_uint_32 format, const void* pixels, const std::vector<Rgb>& colors) {
    png_image header{};
    header.version = PNG_IMAGE_VERSION;
    header.width = static_cast<png_uint_32>(width);
    header.height = static_cast<png_uint_32>(height);
    header.format = format;
    header.colormap_entries = static_cast<png_uint_32>(colors.size());
    std::vector<std::uint8_t> out(PNG_IMAGE_PNG_SIZE_MAX(header));
    png_alloc_size_t size = out.size();
    if (!png_image_write_to_memory(&header, out.data(), &size, 0, pixels, 0, colors.data()))
        throw ComputationError(std::string("libpng cannot encode a picture: ") + header.message);
    out.resize(size);
    out.shrink_to_fit();  // a film keeps many pictures
    return out;
}

}  // namespace

std::vector<std::uint8_t> encode_png(const Image& image) {
    return encode(image.width, image.height, PNG_FORMAT_RGB, image.pixel.data(), {});
}

std::vector<std::uint8_t> encode_png(const IndexedImage& image) {
    return encode(image.width, image.height, PNG_FORMAT_RGB_COLORMAP, image.pixel.data(), image.color);
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
