#define _GNU_SOURCE
#include "CLinuxIO.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

// libsystemd is loaded when the first bus is opened: neither the build nor a board without Bluetooth needs it. Only
// functions without variable arguments are used; their types are those of sd-bus(3), with its opaque types renamed.

typedef struct lodestone_bus bus;
typedef struct lodestone_message message;
struct bus_error {
  const char *name;
  const char *text;
  int needs_free;
};

static struct {
  int (*new)(bus **);
  int (*set_address)(bus *, const char *);
  int (*set_bus_client)(bus *, int);
  int (*start)(bus *);
  int (*is_ready)(bus *);
  void (*close)(bus *);
  bus *(*unref)(bus *);
  int (*get_fd)(bus *);
  int (*get_events)(bus *);
  int (*get_timeout)(bus *, uint64_t *);
  int (*process)(bus *, message **);
  int (*call)(bus *, message *, uint64_t, struct bus_error *, message **);
  void (*error_free)(struct bus_error *);
  int (*new_method_call)(bus *, message **, const char *, const char *, const char *, const char *);
  message *(*message_unref)(message *);
  int (*get_type)(message *, uint8_t *);
  const char *(*get_sender)(message *);
  const char *(*get_path)(message *);
  const char *(*get_interface)(message *);
  const char *(*get_member)(message *);
  int (*append_basic)(message *, char, const void *);
  int (*open_container)(message *, char, const char *);
  int (*close_container)(message *);
  int (*peek_type)(message *, char *, const char **);
  int (*enter_container)(message *, char, const char *);
  int (*exit_container)(message *);
  int (*read_basic)(message *, char, void *);
  int (*read_array)(message *, char, const void **, size_t *);
  int (*skip)(message *, const char *);
  int (*request_name)(bus *, const char *, uint64_t);
  int (*new_method_return)(message *, message **);
  int (*new_method_error)(message *, message **, const struct bus_error *);
  int (*new_signal)(bus *, message **, const char *, const char *, const char *);
  int (*send)(bus *, message *, uint64_t *);
} sd;

static int loaded;

static void load(void) {
  loaded = -ENOSYS;
  void *library = dlopen("libsystemd.so.0", RTLD_NOW | RTLD_LOCAL);
  if (!library) return;
  const struct {
    const char *name;
    void *place;
  } functions[] = {
      {"sd_bus_new", &sd.new},
      {"sd_bus_set_address", &sd.set_address},
      {"sd_bus_set_bus_client", &sd.set_bus_client},
      {"sd_bus_start", &sd.start},
      {"sd_bus_is_ready", &sd.is_ready},
      {"sd_bus_close", &sd.close},
      {"sd_bus_unref", &sd.unref},
      {"sd_bus_get_fd", &sd.get_fd},
      {"sd_bus_get_events", &sd.get_events},
      {"sd_bus_get_timeout", &sd.get_timeout},
      {"sd_bus_process", &sd.process},
      {"sd_bus_call", &sd.call},
      {"sd_bus_error_free", &sd.error_free},
      {"sd_bus_message_new_method_call", &sd.new_method_call},
      {"sd_bus_message_unref", &sd.message_unref},
      {"sd_bus_message_get_type", &sd.get_type},
      {"sd_bus_message_get_sender", &sd.get_sender},
      {"sd_bus_message_get_path", &sd.get_path},
      {"sd_bus_message_get_interface", &sd.get_interface},
      {"sd_bus_message_get_member", &sd.get_member},
      {"sd_bus_message_append_basic", &sd.append_basic},
      {"sd_bus_message_open_container", &sd.open_container},
      {"sd_bus_message_close_container", &sd.close_container},
      {"sd_bus_message_peek_type", &sd.peek_type},
      {"sd_bus_message_enter_container", &sd.enter_container},
      {"sd_bus_message_exit_container", &sd.exit_container},
      {"sd_bus_message_read_basic", &sd.read_basic},
      {"sd_bus_message_read_array", &sd.read_array},
      {"sd_bus_message_skip", &sd.skip},
      {"sd_bus_request_name", &sd.request_name},
      {"sd_bus_message_new_method_return", &sd.new_method_return},
      {"sd_bus_message_new_method_error", &sd.new_method_error},
      {"sd_bus_message_new_signal", &sd.new_signal},
      {"sd_bus_send", &sd.send},
  };
  for (size_t index = 0; index < sizeof functions / sizeof functions[0]; index++) {
    void *function = dlsym(library, functions[index].name);
    if (!function) return;
    memcpy(functions[index].place, &function, sizeof function);
  }
  loaded = 0;
}

int lodestone_bus_open(const char *address, int timeout_ms, struct lodestone_bus **result) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load);
  *result = NULL;
  if (loaded < 0) return loaded;
  bus *opened = NULL;
  int error = sd.new(&opened);
  if (error < 0) return error;
  error = sd.set_address(opened, address);
  if (error >= 0) error = sd.set_bus_client(opened, 1);
  if (error >= 0) error = sd.start(opened);
  int64_t deadline = lodestone_monotonic() + (int64_t)timeout_ms * 1000000;
  while (error >= 0 && (error = sd.is_ready(opened)) == 0) {
    message *unexpected = NULL;
    error = sd.process(opened, &unexpected);
    if (unexpected) sd.message_unref(unexpected);
    if (error != 0) continue;
    int64_t left = deadline - lodestone_monotonic();
    if (left <= 0) error = -ETIMEDOUT;
    else error = lodestone_bus_wait(opened, left);
  }
  if (error < 0) {
    lodestone_bus_close(opened);
    return error;
  }
  *result = opened;
  return 0;
}

void lodestone_bus_close(struct lodestone_bus *bus) {
  sd.close(bus);
  sd.unref(bus);
}

int lodestone_bus_fd(struct lodestone_bus *bus) { return sd.get_fd(bus); }

int lodestone_bus_wait(struct lodestone_bus *bus, int64_t nanoseconds) {
  int events = sd.get_events(bus);
  if (events < 0) return events;
  struct pollfd entry = {.fd = sd.get_fd(bus), .events = (short)events};
  if (entry.fd < 0) return entry.fd;
  uint64_t until = UINT64_MAX;
  if (sd.get_timeout(bus, &until) >= 0 && until != UINT64_MAX) {
    int64_t left = (int64_t)until * 1000 - lodestone_monotonic();
    if (left < 0) left = 0;
    if (left < nanoseconds) nanoseconds = left;
  }
  int result = lodestone_wait(&entry, 1, nanoseconds);
  return result == -EINTR ? 0 : result;
}

int lodestone_bus_process(struct lodestone_bus *bus, struct lodestone_message **result) {
  *result = NULL;
  return sd.process(bus, result);
}

int lodestone_bus_call(
    struct lodestone_bus *bus, struct lodestone_message *message, int timeout_ms, struct lodestone_message **reply,
    char *error, size_t size) {
  struct bus_error details = {0};
  *reply = NULL;
  int result = sd.call(bus, message, (uint64_t)timeout_ms * 1000, &details, reply);
  snprintf(error, size, "%s%s%s", details.name ? details.name : "", details.text ? ": " : "", details.text ? details.text : "");
  sd.error_free(&details);
  return result;
}

int lodestone_message_new(
    struct lodestone_bus *bus, const char *destination, const char *path, const char *interface, const char *member,
    struct lodestone_message **result) {
  *result = NULL;
  return sd.new_method_call(bus, result, destination, path, interface, member);
}

int lodestone_bus_claim(struct lodestone_bus *bus, const char *name) { return sd.request_name(bus, name, 0); }

int lodestone_message_reply(struct lodestone_message *call, struct lodestone_message **result) {
  *result = NULL;
  return sd.new_method_return(call, result);
}

int lodestone_message_refuse(
    struct lodestone_message *call, const char *name, const char *text, struct lodestone_message **result) {
  struct bus_error error = {.name = name, .text = text};
  *result = NULL;
  return sd.new_method_error(call, result, &error);
}

int lodestone_message_signal(
    struct lodestone_bus *bus, const char *path, const char *interface, const char *member,
    struct lodestone_message **result) {
  *result = NULL;
  return sd.new_signal(bus, result, path, interface, member);
}

int lodestone_bus_send(struct lodestone_bus *bus, struct lodestone_message *message) {
  return sd.send(bus, message, NULL);
}

void lodestone_message_close(struct lodestone_message *message) { sd.message_unref(message); }

int lodestone_message_is_signal(struct lodestone_message *message) {
  uint8_t type = 0;
  return sd.get_type(message, &type) >= 0 && type == 4;
}

int lodestone_message_is_call(struct lodestone_message *message) {
  uint8_t type = 0;
  return sd.get_type(message, &type) >= 0 && type == 1;
}

const char *lodestone_message_sender(struct lodestone_message *message) { return sd.get_sender(message); }
const char *lodestone_message_path(struct lodestone_message *message) { return sd.get_path(message); }
const char *lodestone_message_interface(struct lodestone_message *message) { return sd.get_interface(message); }
const char *lodestone_message_member(struct lodestone_message *message) { return sd.get_member(message); }

int lodestone_message_append(struct lodestone_message *message, char type, const void *value) {
  return sd.append_basic(message, type, value);
}

int lodestone_message_begin(struct lodestone_message *message, char type, const char *contents) {
  return sd.open_container(message, type, contents);
}

int lodestone_message_end(struct lodestone_message *message) { return sd.close_container(message); }

int lodestone_message_peek(struct lodestone_message *message, char *type, const char **contents) {
  return sd.peek_type(message, type, contents);
}

int lodestone_message_enter(struct lodestone_message *message, char type, const char *contents) {
  return sd.enter_container(message, type, contents);
}

int lodestone_message_exit(struct lodestone_message *message) { return sd.exit_container(message); }

int lodestone_message_read(struct lodestone_message *message, char type, void *value) {
  return sd.read_basic(message, type, value);
}

int lodestone_message_bytes(struct lodestone_message *message, const void **bytes, size_t *count) {
  return sd.read_array(message, 'y', bytes, count);
}

int lodestone_message_skip(struct lodestone_message *message, const char *types) {
  return sd.skip(message, types);
}
