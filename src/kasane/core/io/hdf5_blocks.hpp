// The blocks in which HDF5 stores the numbers of a data set, read and prepared for writing by all threads. HDF5 itself reads with one
// thread: 0.7 GB/s with checksums, from memory. Internal to core/io.
#pragma once

#include <kasane/core/io/hdf5_driver.hpp>

namespace kasane::hdf5 {

/// Reads a whole data set into `to` if its numbers lie in the file as in memory: the type of memory, stored in one block or in chunks of
/// whole rows, with no filter or Fletcher32 alone. Checks the checksums.
/// @param dataset  of a file opened for reading with HDF5's default driver
/// @returns false: the data set is small, is stored in another way, or a block is damaged. HDF5 must read it, and reports the damage
bool read_blocks(hid_t file, hid_t dataset, hid_t memory_type, void* to);

/// Writes whole chunks whose only filter is Fletcher32, from rows in the number type of the file. HDF5 allocates the chunks; all threads
/// compute the checksums, and neighbouring chunks are written with one call: the system takes half the time of one call for each chunk.
/// Errors of the disk are kept in the file.
/// @param to  the file of the data set   @param first  first row, which begins a chunk
/// @param rows  number of rows, up to the end of a chunk or of the data set   @param from  [rows]
/// @returns false: the data set is stored in another way, a part of a chunk is to be written, or HDF5 has failed. The caller must write
/// the rows with H5Dwrite
bool write_blocks(OutputFile& to, hid_t dataset, hid_t memory_type, hsize_t first, hsize_t rows, const void* from);

}  // namespace kasane::hdf5
