#include "CYAML.h"

#include <stdlib.h>
#include <yaml.h>

struct lodestone_yaml {
  yaml_parser_t parser;
  yaml_event_t event;
  int has_event;
  const uint8_t *text;
  size_t length;
};

lodestone_yaml *lodestone_yaml_open(const uint8_t *text, size_t length) {
  lodestone_yaml *reader = calloc(1, sizeof *reader);
  if (!reader) return NULL;
  if (!yaml_parser_initialize(&reader->parser)) {
    free(reader);
    return NULL;
  }
  reader->text = text;
  reader->length = length;
  yaml_parser_set_encoding(&reader->parser, YAML_UTF8_ENCODING);
  yaml_parser_set_input_string(&reader->parser, text, length);
  return reader;
}

static void release_event(lodestone_yaml *reader) {
  if (reader->has_event) yaml_event_delete(&reader->event);
  reader->has_event = 0;
}

void lodestone_yaml_close(lodestone_yaml *reader) {
  release_event(reader);
  yaml_parser_delete(&reader->parser);
  free(reader);
}

int lodestone_yaml_next(lodestone_yaml *reader, lodestone_yaml_event *event) {
  for (;;) {
    release_event(reader);
    if (!yaml_parser_parse(&reader->parser, &reader->event)) return -1;
    reader->has_event = 1;
    const yaml_event_t *found = &reader->event;
    *event = (lodestone_yaml_event){.line = (int64_t)found->start_mark.line + 1};
    switch (found->type) {
    case YAML_STREAM_START_EVENT:
    case YAML_DOCUMENT_END_EVENT: continue;
    case YAML_NO_EVENT:
    case YAML_STREAM_END_EVENT: event->kind = LODESTONE_YAML_END; return 0;
    case YAML_DOCUMENT_START_EVENT: event->kind = LODESTONE_YAML_DOCUMENT; return 0;
    case YAML_ALIAS_EVENT:
      event->kind = LODESTONE_YAML_ALIAS;
      event->anchor = (const char *)found->data.alias.anchor;
      return 0;
    case YAML_SCALAR_EVENT:
      event->kind = LODESTONE_YAML_SCALAR;
      event->anchor = (const char *)found->data.scalar.anchor;
      event->text = found->data.scalar.value;
      event->length = found->data.scalar.length;
      event->is_quoted = found->data.scalar.style == YAML_SINGLE_QUOTED_SCALAR_STYLE
        || found->data.scalar.style == YAML_DOUBLE_QUOTED_SCALAR_STYLE;
      return 0;
    case YAML_SEQUENCE_START_EVENT:
      event->kind = LODESTONE_YAML_SEQUENCE;
      event->anchor = (const char *)found->data.sequence_start.anchor;
      return 0;
    case YAML_SEQUENCE_END_EVENT: event->kind = LODESTONE_YAML_SEQUENCE_END; return 0;
    case YAML_MAPPING_START_EVENT:
      event->kind = LODESTONE_YAML_MAPPING;
      event->anchor = (const char *)found->data.mapping_start.anchor;
      return 0;
    case YAML_MAPPING_END_EVENT: event->kind = LODESTONE_YAML_MAPPING_END; return 0;
    }
  }
}

const char *lodestone_yaml_problem(const lodestone_yaml *reader, int64_t *line) {
  const yaml_parser_t *parser = &reader->parser;
  *line = 0;
  if (parser->error == YAML_MEMORY_ERROR) return "there is not enough memory";
  if (parser->error == YAML_READER_ERROR) {
    // It says how many bytes it has read.
    *line = 1;
    for (size_t place = 0; place < parser->problem_offset && place < reader->length; place++) *line += reader->text[place] == '\n';
  } else {
    *line = (int64_t)parser->problem_mark.line + 1;
  }
  return parser->problem ? parser->problem : "this is not YAML";
}
