// The events of a YAML text by libyaml, without its types.

#ifndef CYAML_H
#define CYAML_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lodestone_yaml lodestone_yaml;

typedef enum {
  LODESTONE_YAML_END,
  LODESTONE_YAML_DOCUMENT,
  LODESTONE_YAML_SCALAR,
  LODESTONE_YAML_SEQUENCE,
  LODESTONE_YAML_SEQUENCE_END,
  LODESTONE_YAML_MAPPING,
  LODESTONE_YAML_MAPPING_END,
  LODESTONE_YAML_ALIAS,
} lodestone_yaml_kind;

typedef struct {
  lodestone_yaml_kind kind;
  /// From 1.
  int64_t line;
  /// Of a scalar: UTF-8, which may hold zero bytes. It lives until the next event.
  const uint8_t *text;
  size_t length;
  /// Whether a scalar stands in quotation marks.
  int is_quoted;
  /// The name of an anchor or an alias; NULL where there is none. It lives until the next event.
  const char *anchor;
} lodestone_yaml_event;

/// Begins to read a text, which must live as long as the reader. NULL without memory.
lodestone_yaml *lodestone_yaml_open(const uint8_t *text, size_t length);
void lodestone_yaml_close(lodestone_yaml *reader);
/// Reads the next event. Returns 0, or -1 for a mistake in the text, after which nothing more can be read.
int lodestone_yaml_next(lodestone_yaml *reader, lodestone_yaml_event *event);
/// The mistake in words, and its line from 1; 0 where it is not known.
const char *lodestone_yaml_problem(const lodestone_yaml *reader, int64_t *line);

#ifdef __cplusplus
}
#endif

#endif
