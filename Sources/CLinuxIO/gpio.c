#include "CLinuxIO.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <gpiod.h>
#include <stdlib.h>
#include <string.h>

// The two versions of libgpiod share a header's name and nothing else. This macro exists in version 1 only.
#ifdef GPIOD_LINE_BULK_MAX_LINES
#define GPIOD_VERSION 1
#else
#define GPIOD_VERSION 2
#endif

int lodestone_gpiod_version(void) { return GPIOD_VERSION; }

// Edges that one look takes at most; the rest wait for the next.
enum { EDGES = 16 };

// A look at a line without an edge must return at once, and is one call only: it stands between every edge
// and its sample.
static int never_wait(int fd) {
  int flags = fcntl(fd, F_GETFL);
  return flags < 0 ? -1 : fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

static int no_edge(void) { return errno == EAGAIN || errno == EINTR; }

static int decimal(const char *text, unsigned *value) {
  char *end;
  if (*text < '0' || *text > '9') return 0;
  errno = 0;
  unsigned long parsed = strtoul(text, &end, 10);
  if (*end || errno || parsed > 65535) return 0;
  *value = (unsigned)parsed;
  return 1;
}

static int failure(int otherwise) { return errno ? -errno : -otherwise; }

#if GPIOD_VERSION == 1

struct lodestone_line {
  struct gpiod_chip *chip;
  struct gpiod_line *line;
};

int lodestone_line_open(const char *chip, const char *name, struct lodestone_line **result) {
  errno = 0;
  struct lodestone_line *line = calloc(1, sizeof *line);
  if (!line) return -ENOMEM;
  // Path, name, label or number, in libgpiod's own order.
  line->chip = gpiod_chip_open_lookup(chip);
  if (!line->chip) {
    int error = failure(ENOENT);
    free(line);
    return error;
  }
  unsigned offset;
  errno = 0;
  line->line = decimal(name, &offset) ? gpiod_chip_get_line(line->chip, offset)
                                      : gpiod_chip_find_line(line->chip, name);
  if (!line->line || gpiod_line_request_rising_edge_events(line->line, "lodestone") < 0 ||
      never_wait(lodestone_line_fd(line)) < 0) {
    int error = failure(ENOENT);
    lodestone_line_close(line);
    return error;
  }
  *result = line;
  return 0;
}

int lodestone_line_fd(struct lodestone_line *line) { return gpiod_line_event_get_fd(line->line); }

int lodestone_line_take(struct lodestone_line *line, int64_t *nanoseconds) {
  struct gpiod_line_event events[EDGES];
  errno = 0;
  int count = gpiod_line_event_read_multiple(line->line, events, EDGES);
  if (count < 0) return no_edge() ? 0 : failure(EIO);
  if (count > 0)
    *nanoseconds = (int64_t)events[count - 1].ts.tv_sec * 1000000000 + events[count - 1].ts.tv_nsec;
  return count;
}

int lodestone_line_level(struct lodestone_line *line) {
  errno = 0;
  int level = gpiod_line_get_value(line->line);
  return level < 0 ? failure(EIO) : level;
}

void lodestone_line_close(struct lodestone_line *line) {
  if (!line) return;
  if (line->line) gpiod_line_release(line->line);
  gpiod_chip_close(line->chip);
  free(line);
}

#else

struct lodestone_line {
  struct gpiod_line_request *request;
  struct gpiod_edge_event_buffer *events;
};

// Version 2 opens by path only: names and labels are looked up here.
static struct gpiod_chip *open_chip(const char *wanted) {
  if (strchr(wanted, '/')) return gpiod_chip_open(wanted);
  DIR *folder = opendir("/dev");
  if (!folder) return NULL;
  struct gpiod_chip *found = NULL;
  int denied = 0;
  for (struct dirent *entry; !found && (entry = readdir(folder));) {
    if (strncmp(entry->d_name, "gpiochip", 8) != 0) continue;
    char path[300] = "/dev/";
    strncat(path, entry->d_name, sizeof path - 6);
    errno = 0;
    struct gpiod_chip *chip = gpiod_chip_open(path);
    if (!chip) {
      if (errno == EACCES) denied = 1;
      continue;
    }
    struct gpiod_chip_info *info = gpiod_chip_get_info(chip);
    if (info && (strcmp(gpiod_chip_info_get_label(info), wanted) == 0 ||
                 strcmp(gpiod_chip_info_get_name(info), wanted) == 0))
      found = chip;
    if (info) gpiod_chip_info_free(info);
    if (!found) gpiod_chip_close(chip);
  }
  closedir(folder);
  if (!found) errno = denied ? EACCES : ENOENT;
  return found;
}

static struct gpiod_line_request *request_line(struct gpiod_chip *chip, unsigned offset) {
  struct gpiod_line_request *request = NULL;
  struct gpiod_line_settings *settings = gpiod_line_settings_new();
  struct gpiod_line_config *lines = gpiod_line_config_new();
  struct gpiod_request_config *config = gpiod_request_config_new();
  if (settings && lines && config) {
    gpiod_line_settings_set_direction(settings, GPIOD_LINE_DIRECTION_INPUT);
    gpiod_line_settings_set_edge_detection(settings, GPIOD_LINE_EDGE_RISING);
    gpiod_line_settings_set_event_clock(settings, GPIOD_LINE_CLOCK_MONOTONIC);
    gpiod_request_config_set_consumer(config, "lodestone");
    if (gpiod_line_config_add_line_settings(lines, &offset, 1, settings) == 0)
      request = gpiod_chip_request_lines(chip, config, lines);
  }
  int error = errno;
  if (config) gpiod_request_config_free(config);
  if (lines) gpiod_line_config_free(lines);
  if (settings) gpiod_line_settings_free(settings);
  errno = error;
  return request;
}

int lodestone_line_open(const char *chip_name, const char *name, struct lodestone_line **result) {
  errno = 0;
  struct lodestone_line *line = calloc(1, sizeof *line);
  if (!line) return -ENOMEM;
  struct gpiod_chip *chip = open_chip(chip_name);
  unsigned offset = 0;
  if (chip) {
    int found = decimal(name, &offset) ? (int)offset : gpiod_chip_get_line_offset_from_name(chip, name);
    if (found >= 0) line->request = request_line(chip, (unsigned)found);
    int error = errno;
    // The request lives on without the chip.
    gpiod_chip_close(chip);
    errno = error;
  }
  if (line->request) line->events = gpiod_edge_event_buffer_new(EDGES);
  if (!line->events || never_wait(lodestone_line_fd(line)) < 0) {
    int error = failure(ENOENT);
    lodestone_line_close(line);
    return error;
  }
  *result = line;
  return 0;
}

int lodestone_line_fd(struct lodestone_line *line) { return gpiod_line_request_get_fd(line->request); }

int lodestone_line_take(struct lodestone_line *line, int64_t *nanoseconds) {
  errno = 0;
  int count = gpiod_line_request_read_edge_events(line->request, line->events, EDGES);
  if (count < 0) return no_edge() ? 0 : failure(EIO);
  if (count > 0) {
    struct gpiod_edge_event *newest = gpiod_edge_event_buffer_get_event(line->events, (unsigned long)count - 1);
    *nanoseconds = (int64_t)gpiod_edge_event_get_timestamp_ns(newest);
  }
  return count;
}

int lodestone_line_level(struct lodestone_line *line) {
  errno = 0;
  enum gpiod_line_value level = GPIOD_LINE_VALUE_ERROR;
  if (gpiod_line_request_get_values(line->request, &level) < 0) return failure(EIO);
  return level == GPIOD_LINE_VALUE_ACTIVE;
}

void lodestone_line_close(struct lodestone_line *line) {
  if (!line) return;
  if (line->events) gpiod_edge_event_buffer_free(line->events);
  if (line->request) gpiod_line_request_release(line->request);
  free(line);
}

#endif
