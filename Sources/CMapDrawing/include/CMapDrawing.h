// MBTiles through SQLite's own library, which is loaded when the first file is opened: neither the build nor a board
// without such files needs it. Every function returns zero or more on success and a negative number on failure, with
// words in `error`; none runs for longer than the time that was given when the file was opened. A file is used by one thread
// at a time.
#pragma once

#include <stddef.h>
#include <stdint.h>

/// Largest tile, bytes.
#define LODESTONE_TILE_LIMIT (4 << 20)

#define LODESTONE_TILES_NO_LIBRARY -1
#define LODESTONE_TILES_BROKEN -2

struct lodestone_tiles;
/// Opens a file to be read only, and makes sure that it has tiles' columns. `timeout_ms` is the longest that one question
/// to it may take: what it calls a table may be a view without an end. LODESTONE_TILES_NO_LIBRARY where there is no SQLite.
int lodestone_tiles_open(
    const char *path, int timeout_ms, struct lodestone_tiles **result, char *error, size_t size);
void lodestone_tiles_close(struct lodestone_tiles *tiles);
/// A value of the metadata, as much of it as there is room for. Returns 1, or 0 where there is none.
int lodestone_tiles_metadata(
    struct lodestone_tiles *tiles, const char *name, char *value, size_t value_size, char *error, size_t size);
/// The zooms between which there are tiles. Returns 1, or 0 where there are none.
int lodestone_tiles_zooms(
    struct lodestone_tiles *tiles, int64_t *minimum, int64_t *maximum, char *error, size_t size);
/// How any tile begins, to see of what kind it is. As lodestone_tiles_read.
int lodestone_tiles_any(
    struct lodestone_tiles *tiles, const void **bytes, size_t *count, char *error, size_t size);
/// A tile's bytes, which live until the next question. Its row is counted from the south. Returns 1, or 0 where there is
/// none.
int lodestone_tiles_read(
    struct lodestone_tiles *tiles, int zoom, int column, int row, const void **bytes, size_t *count, char *error,
    size_t size);
