// Configurations that several workers read together against a reader of the whole file.
#pragma once

#include <kasane/core/base/error.hpp>
#include <kasane/core/comm/worker.hpp>
#include <kasane/lattice/distributed/local_file.hpp>
#include <kasane/lattice/distributed/local_part.hpp>

#include <gtest/gtest.h>

#include <cstring>

namespace kasane::lattice {

/// The links bit by bit, and all facts.
inline void expect_parts_of_file(comm::WorkerCommunicator& communicator, const std::optional<GridShape>& shape,
                                 const std::filesystem::path& file) {
    const auto whole = read_gauge(file);
    communicator.run([&](comm::Worker& worker) {
        const auto local = read_local_gauge(worker, Cpu{1}, shape, file);
        const auto what = file.filename().string() + ", " + local.grid.text();
        const auto expected = local_part(local.grid, worker.index(), whole.field);
        ASSERT_EQ(local.file.field.extents, expected.extents) << what;
        EXPECT_EQ(std::memcmp(local.file.field.links.data(), expected.links.data(), expected.links.size() * sizeof expected.links[0]), 0)
            << what;
        const auto &a = local.file.facts, &b = whole.facts;
        EXPECT_EQ(a.format, b.format) << what;
        EXPECT_EQ(a.checksum.kind, b.checksum.kind) << what;
        EXPECT_EQ(a.checksum.stored, b.checksum.stored) << what;
        if (b.checksum.kind != "plaquette") {
            EXPECT_EQ(a.checksum.computed, b.checksum.computed) << what;
        }
        EXPECT_EQ(a.checksum.ok, b.checksum.ok) << what;
        EXPECT_EQ(a.worst_distance_from_su3, b.worst_distance_from_su3) << what;
        EXPECT_EQ(a.stored_plaquette, b.stored_plaquette) << what;
        EXPECT_EQ(a.notes, b.notes) << what;
    });
}

/// The error of a reader of the whole file, on every worker.
inline void expect_error_of_file(comm::WorkerCommunicator& communicator, const std::filesystem::path& file) {
    std::string expected, found;
    try {
        read_gauge(file);
    } catch (const InputError& error) {
        expected = error.what();
    }
    ASSERT_FALSE(expected.empty()) << file;
    try {
        communicator.run([&](comm::Worker& worker) {
            EXPECT_THROW(
                {
                    try {
                        read_local_gauge(worker, Cpu{1}, {}, file);
                    } catch (const InputError& error) {
                        if (worker.index() == 0) found = error.what();
                        throw;
                    }
                },
                InputError);
        });
    } catch (const InputError&) {
        ADD_FAILURE();
    }
    if (communicator.ranks().rank() == 0) {
        EXPECT_EQ(found, expected);
    }
}

}  // namespace kasane::lattice
