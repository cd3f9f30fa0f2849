// Devices that a list of architectures covers, and the message about a device that it does not cover.
#include <kasane/core/device/cuda_code.hpp>

#include <gtest/gtest.h>

namespace {

using namespace kasane;

TEST(CudaCode, MachineCodeRunsOnDevicesOfTheSameMajor) {
    EXPECT_TRUE(has_cuda_code("80-real", {8, 0}));
    EXPECT_TRUE(has_cuda_code("80-real", {8, 9}));
    EXPECT_FALSE(has_cuda_code("86-real", {8, 0}));
    EXPECT_FALSE(has_cuda_code("80-real", {9, 0}));
    EXPECT_TRUE(has_cuda_code("80-real,90-real", {9, 0}));
    EXPECT_FALSE(has_cuda_code("80-real,90-real", {12, 0}));
}

TEST(CudaCode, PtxRunsOnNewerDevices) {
    EXPECT_TRUE(has_cuda_code("90", {9, 0}));
    EXPECT_TRUE(has_cuda_code("90", {12, 0}));
    EXPECT_TRUE(has_cuda_code("90-virtual", {10, 3}));
    EXPECT_FALSE(has_cuda_code("90", {8, 0})) << "neither kind of code runs on an older device";
    EXPECT_FALSE(has_cuda_code("90", {8, 9}));
}

TEST(CudaCode, CodeOfOneArchitectureAlone) {
    EXPECT_TRUE(has_cuda_code("90a", {9, 0}));
    EXPECT_FALSE(has_cuda_code("90a", {10, 0}));
}

TEST(CudaCode, AnUnknownListAcceptsEveryDevice) {
    for (const char* list : {"", "native", "all"}) EXPECT_TRUE(has_cuda_code(list, {7, 0})) << list;
}

TEST(CudaCode, TheMessageNamesTheDeviceAndTheOption) {
    EXPECT_EQ(why_no_cuda_code("90", "NVIDIA H200", {9, 0}), "");
    const auto why = why_no_cuda_code("90", "NVIDIA A100", {8, 0});
    for (const char* part : {"90", "NVIDIA A100", "8.0", "-DCMAKE_CUDA_ARCHITECTURES=80"})
        EXPECT_NE(why.find(part), std::string::npos) << why;
}

}  // namespace
