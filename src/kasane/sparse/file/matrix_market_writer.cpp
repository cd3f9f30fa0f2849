// Writes Matrix Market files: every number with the fewest digits (at most 17) that restore it exactly.
#include <kasane/core/base/error.hpp>
#include <kasane/core/io/atomic_file.hpp>
#include <kasane/sparse/file/matrix_file.hpp>

#include <charconv>
#include <string>
#include <string_view>

namespace kasane::sparse {
namespace {

/// Collects text and writes it in blocks.
class MarketWriter {
   public:
    MarketWriter(const std::filesystem::path& path, std::string_view type) : file_(path) {
        block_.reserve(block + 64);
        block_ = "%%MatrixMarket matrix ";
        block_ += type;
        block_ += '\n';
    }
    template <class Number>
    void put(Number number, char behind) {
        char text[32];
        const auto [end, error] = std::to_chars(text, text + sizeof text, number);
        block_.append(text, end);
        block_ += behind;
        if (block_.size() >= block) flush();
    }
    void commit() {
        flush();
        file_.commit();
    }

   private:
    void flush() {
        file_.write(block_);
        block_.clear();
    }
    static constexpr std::size_t block = std::size_t{1} << 20;
    AtomicFile file_;
    std::string block_;
};

}  // namespace

void write_matrix_market(const std::filesystem::path& path, const CsrView& A, bool symmetric) {
    index_t entries = A.begin(A.n);
    if (symmetric) {
        entries = 0;
        for (index_t row = 0; row < A.n; ++row)
            for (auto k = A.begin(row); k < A.end(row); ++k) entries += A.column(k) <= row;
    }
    MarketWriter file(path, symmetric ? "coordinate real symmetric" : "coordinate real general");
    file.put(A.n, ' '), file.put(A.n, ' '), file.put(entries, '\n');
    for (index_t row = 0; row < A.n; ++row)
        for (auto k = A.begin(row); k < A.end(row); ++k) {
            if (symmetric && A.column(k) > row) continue;
            file.put(row + 1, ' '), file.put(A.column(k) + 1, ' '), file.put(A.value[k], '\n');
        }
    file.commit();
}

void write_vector_market(const std::filesystem::path& path, View<const double> x, index_t columns) {
    KS_EXPECT(columns >= 1 && x.n % columns == 0);
    MarketWriter file(path, "array real general");
    file.put(x.n / columns, ' '), file.put(columns, '\n');
    for (const double value : x) file.put(value, '\n');
    file.commit();
}

}  // namespace kasane::sparse
