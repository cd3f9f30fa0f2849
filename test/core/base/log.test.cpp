#include <kasane/core/base/log.hpp>

#include <gtest/gtest.h>

#include <string>

namespace {

using namespace kasane;

TEST(Log, ShowsControlCharactersOfFilesAsQuestionMarks) {
    ::testing::internal::CaptureStderr();
    log::error(
        "a\x1b[31mb\r\x07\x7f\xc2\x9b"
        "c");
    log::error("\xc3\xa9 \xc2\xb3\n\tsecond line");
    const auto text = ::testing::internal::GetCapturedStderr();
    EXPECT_NE(text.find("a?[31mb????c\n"), std::string::npos) << text;
    EXPECT_NE(text.find("\xc3\xa9 \xc2\xb3\n\tsecond line\n"), std::string::npos) << text;
}

}  // namespace
