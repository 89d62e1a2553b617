#define _GNU_SOURCE
#include "CThreads.h"

#include <pthread.h>
#include <string.h>

void lodestone_name_thread(const char *name) {
  char text[16] = {0};
  strncpy(text, name, sizeof text - 1);
  pthread_setname_np(pthread_self(), text);
}
