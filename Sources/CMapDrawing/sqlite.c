#define _GNU_SOURCE
#include "CMapDrawing.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// Only what SQLite documents as stable is used (sqlite.org/c3ref); the types are its own, with the opaque ones renamed.

typedef struct database database;
typedef struct statement statement;

enum {
  ok = 0,
  perm = 3,
  read_only = 8,
  cannot_open = 14,
  row = 100,
  done = 101,
  integer_type = 1,
  blob_type = 4,
  open_read_only = 0x1,
  open_uri = 0x40,
  limit_length = 0,
  limit_attached = 7,
};

static struct {
  int (*open)(const char *, database **, int, const char *);
  int (*close)(database *);
  const char *(*message)(database *);
  int (*exec)(database *, const char *, int (*)(void *, int, char **, char **), void *, char **);
  int (*limit)(database *, int, int);
  void (*progress)(database *, int, int (*)(void *), void *);
  int (*prepare)(database *, const char *, int, statement **, const char **);
  int (*finalize)(statement *);
  int (*step)(statement *);
  int (*reset)(statement *);
  int (*bind_int)(statement *, int, int);
  int (*bind_text)(statement *, int, const char *, int, void (*)(void *));
  int (*column_type)(statement *, int);
  int64_t (*column_int)(statement *, int);
  const unsigned char *(*column_text)(statement *, int);
  const void *(*column_blob)(statement *, int);
  int (*column_bytes)(statement *, int);
} sql;

static int loaded;

static void load(void) {
  loaded = LODESTONE_TILES_NO_LIBRARY;
  void *library = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL);
  if (!library) return;
  const struct {
    const char *name;
    void *place;
  } functions[] = {
      {"sqlite3_open_v2", &sql.open},
      {"sqlite3_close", &sql.close},
      {"sqlite3_errmsg", &sql.message},
      {"sqlite3_exec", &sql.exec},
      {"sqlite3_limit", &sql.limit},
      {"sqlite3_progress_handler", &sql.progress},
      {"sqlite3_prepare_v2", &sql.prepare},
      {"sqlite3_finalize", &sql.finalize},
      {"sqlite3_step", &sql.step},
      {"sqlite3_reset", &sql.reset},
      {"sqlite3_bind_int", &sql.bind_int},
      {"sqlite3_bind_text", &sql.bind_text},
      {"sqlite3_column_type", &sql.column_type},
      {"sqlite3_column_int64", &sql.column_int},
      {"sqlite3_column_text", &sql.column_text},
      {"sqlite3_column_blob", &sql.column_blob},
      {"sqlite3_column_bytes", &sql.column_bytes},
  };
  for (size_t index = 0; index < sizeof functions / sizeof functions[0]; index++) {
    void *function = dlsym(library, functions[index].name);
    if (!function) return;
    memcpy(functions[index].place, &function, sizeof function);
  }
  loaded = 0;
}

struct lodestone_tiles {
  database *file;
  statement *tile;
  int64_t timeout;
  int64_t deadline;
  unsigned char head[1024];
};

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static int is_late(void *tiles) { return now() > ((struct lodestone_tiles *)tiles)->deadline; }

static void begin(struct lodestone_tiles *tiles) {
  tiles->deadline = now() + tiles->timeout;
}

static int broken(struct lodestone_tiles *tiles, char *error, size_t size) {
  snprintf(error, size, "%s", tiles->file ? sql.message(tiles->file) : "out of memory");
  return LODESTONE_TILES_BROKEN;
}

// The path as a URI, so that a file on a medium that cannot be written, left in the middle of a change, is read as it is.
static char *immutable(const char *path) {
  static const char digits[] = "0123456789ABCDEF";
  char *uri = malloc(3 * strlen(path) + 32);
  if (!uri) return NULL;
  char *end = stpcpy(uri, "file:");
  for (const unsigned char *byte = (const unsigned char *)path; *byte; byte++) {
    if (*byte < 0x21 || *byte > 0x7E || strchr("%?#", *byte)) {
      *end++ = '%';
      *end++ = digits[*byte >> 4];
      *end++ = digits[*byte & 15];
    } else {
      *end++ = (char)*byte;
    }
  }
  strcpy(end, "?immutable=1");
  return uri;
}

static int prepare(struct lodestone_tiles *tiles) {
  // A blob of the largest size must fit into a row with what stands beside it.
  sql.limit(tiles->file, limit_length, LODESTONE_TILE_LIMIT + (1 << 16));
  sql.limit(tiles->file, limit_attached, 0);
  sql.progress(tiles->file, 1000, is_late, tiles);
  // A file that shrinks while it is mapped ends the process; its schema may not call functions with effects.
  int code = sql.exec(
      tiles->file, "PRAGMA mmap_size=0; PRAGMA trusted_schema=OFF; PRAGMA query_only=ON", NULL, NULL, NULL);
  if (code != ok) return code;
  return sql.prepare(
      tiles->file,
      "SELECT tile_data FROM tiles WHERE zoom_level = ?1 AND tile_column = ?2 AND tile_row = ?3 LIMIT 1", -1,
      &tiles->tile, NULL);
}

static void shut(struct lodestone_tiles *tiles) {
  if (tiles->tile) sql.finalize(tiles->tile);
  if (tiles->file) sql.close(tiles->file);
  tiles->tile = NULL;
  tiles->file = NULL;
}

int lodestone_tiles_open(
    const char *path, int timeout_ms, struct lodestone_tiles **result, char *error, size_t size) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load);
  *result = NULL;
  if (loaded < 0) return loaded;
  struct lodestone_tiles *tiles = calloc(1, sizeof *tiles);
  char *uri = immutable(path);
  if (!tiles || !uri) {
    free(tiles);
    free(uri);
    snprintf(error, size, "out of memory");
    return LODESTONE_TILES_BROKEN;
  }
  tiles->timeout = timeout_ms * INT64_C(1000000);
  begin(tiles);
  int code = sql.open(path, &tiles->file, open_read_only, NULL);
  if (code == ok) code = prepare(tiles);
  if (code == perm || code == read_only || code == cannot_open) {
    shut(tiles);
    code = sql.open(uri, &tiles->file, open_read_only | open_uri, NULL);
    if (code == ok) code = prepare(tiles);
  }
  free(uri);
  if (code != ok) {
    broken(tiles, error, size);
    lodestone_tiles_close(tiles);
    return LODESTONE_TILES_BROKEN;
  }
  *result = tiles;
  return 0;
}

void lodestone_tiles_close(struct lodestone_tiles *tiles) {
  if (!tiles) return;
  shut(tiles);
  free(tiles);
}

int lodestone_tiles_metadata(
    struct lodestone_tiles *tiles, const char *name, char *value, size_t value_size, char *error, size_t size) {
  begin(tiles);
  statement *question = NULL;
  if (sql.prepare(tiles->file, "SELECT value FROM metadata WHERE name = ?1 LIMIT 1", -1, &question, NULL) != ok)
    return broken(tiles, error, size);
  int found = 0;
  int code = sql.bind_text(question, 1, name, -1, NULL);
  if (code == ok) code = sql.step(question);
  if (code == row) {
    const unsigned char *text = sql.column_text(question, 0);
    if (text) {
      snprintf(value, value_size, "%s", (const char *)text);
      found = 1;
    }
  } else if (code != done) {
    found = broken(tiles, error, size);
  }
  sql.finalize(question);
  return found;
}

// Returns 1 with a whole number, 0 without one.
static int number(struct lodestone_tiles *tiles, const char *text, int64_t *value, char *error, size_t size) {
  statement *question = NULL;
  if (sql.prepare(tiles->file, text, -1, &question, NULL) != ok) return broken(tiles, error, size);
  int found = 0;
  int code = sql.step(question);
  if (code != row) {
    found = broken(tiles, error, size);
  } else if (sql.column_type(question, 0) == integer_type) {
    *value = sql.column_int(question, 0);
    found = 1;
  }
  sql.finalize(question);
  return found;
}

int lodestone_tiles_zooms(
    struct lodestone_tiles *tiles, int64_t *minimum, int64_t *maximum, char *error, size_t size) {
  begin(tiles);
  // One question each: only so does SQLite look at the ends of an index alone.
  int found = number(tiles, "SELECT min(zoom_level) FROM tiles", minimum, error, size);
  return found == 1 ? number(tiles, "SELECT max(zoom_level) FROM tiles", maximum, error, size) : found;
}

static int take(
    struct lodestone_tiles *tiles, statement *question, const void **bytes, size_t *count, char *error, size_t size) {
  int code = sql.step(question);
  if (code == done) return 0;
  if (code != row) return broken(tiles, error, size);
  if (sql.column_type(question, 0) != blob_type) {
    snprintf(error, size, "a tile is not a blob");
    return LODESTONE_TILES_BROKEN;
  }
  const void *blob = sql.column_blob(question, 0);
  int length = sql.column_bytes(question, 0);
  if (length > LODESTONE_TILE_LIMIT) {
    snprintf(error, size, "a tile has %d bytes", length);
    return LODESTONE_TILES_BROKEN;
  }
  *bytes = blob;
  *count = blob && length > 0 ? (size_t)length : 0;
  return 1;
}

int lodestone_tiles_any(
    struct lodestone_tiles *tiles, const void **bytes, size_t *count, char *error, size_t size) {
  begin(tiles);
  sql.reset(tiles->tile);
  statement *question = NULL;
  if (sql.prepare(tiles->file, "SELECT tile_data FROM tiles LIMIT 1", -1, &question, NULL) != ok)
    return broken(tiles, error, size);
  int found = take(tiles, question, bytes, count, error, size);
  // The bytes live as long as the question.
  if (found == 1) {
    if (*count > sizeof tiles->head) *count = sizeof tiles->head;
    if (*count) memcpy(tiles->head, *bytes, *count);
    *bytes = tiles->head;
  }
  sql.finalize(question);
  return found;
}

int lodestone_tiles_read(
    struct lodestone_tiles *tiles, int zoom, int column, int tile_row, const void **bytes, size_t *count, char *error,
    size_t size) {
  begin(tiles);
  sql.reset(tiles->tile);
  if (sql.bind_int(tiles->tile, 1, zoom) != ok || sql.bind_int(tiles->tile, 2, column) != ok ||
      sql.bind_int(tiles->tile, 3, tile_row) != ok)
    return broken(tiles, error, size);
  return take(tiles, tiles->tile, bytes, count, error, size);
}
