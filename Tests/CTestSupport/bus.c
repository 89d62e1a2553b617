#define _GNU_SOURCE
#include "CTestSupport.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>

// The other side of D-Bus, by sd-bus(3): what a service needs and the library does not.

struct bus_error {
  const char *name;
  const char *text;
  int needs_free;
};

static void *function(const char *name) {
  void *library = dlopen("libsystemd.so.0", RTLD_NOW | RTLD_LOCAL);
  return library ? dlsym(library, name) : NULL;
}

int test_bus_claim(struct lodestone_bus *bus, const char *name) {
  int (*request)(void *, const char *, uint64_t) = function("sd_bus_request_name");
  return request ? request(bus, name, 0) : -ENOSYS;
}

int test_bus_reply(struct lodestone_message *call, struct lodestone_message **reply) {
  int (*make)(void *, struct lodestone_message **) = function("sd_bus_message_new_method_return");
  return make ? make(call, reply) : -ENOSYS;
}

int test_bus_refuse(struct lodestone_message *call, const char *name, struct lodestone_message **reply) {
  int (*make)(void *, struct lodestone_message **, const struct bus_error *) =
      function("sd_bus_message_new_method_error");
  struct bus_error error = {.name = name, .text = "refused by the test"};
  return make ? make(call, reply, &error) : -ENOSYS;
}

int test_bus_signal(
    struct lodestone_bus *bus, const char *path, const char *interface, const char *member,
    struct lodestone_message **signal) {
  int (*make)(void *, struct lodestone_message **, const char *, const char *, const char *) =
      function("sd_bus_message_new_signal");
  return make ? make(bus, signal, path, interface, member) : -ENOSYS;
}

int test_bus_send(struct lodestone_bus *bus, struct lodestone_message *message) {
  int (*send)(void *, void *, uint64_t *) = function("sd_bus_send");
  int (*flush)(void *) = function("sd_bus_flush");
  if (!send || !flush) return -ENOSYS;
  int result = send(bus, message, NULL);
  return result < 0 ? result : flush(bus);
}
