/* global_heap.h - is a text of variable length in an HDF5 file safe for the library to read?
 *
 * Such texts stand in global heap collections ("GCOL" in the HDF5 file format specification,
 * III.E). HDF5 1.10 believes the sizes it finds there and reads past its buffers in a damaged file,
 * so they are checked here, from the file's bytes, before the library is asked.
 */
#ifndef GS_PROBES_TRACE_GLOBAL_HEAP_H
#define GS_PROBES_TRACE_GLOBAL_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the largest reference: length (4), address (at most 8), index (4). */
enum { GS_HEAP_REFERENCE = 16 };

/* `reference` as it is stored in the file, whose addresses and sizes have so many bytes (at most
 * 8) and count from byte `base`. True when the collection it points to lies in the file, every
 * object of the collection lies in the collection, and the object meant is there with the length
 * that the reference says. */
bool gs_heap_text_is_sound(const char *path, uint64_t base,
                           const unsigned char reference[GS_HEAP_REFERENCE], size_t address_size,
                           size_t size_size);

#endif
