#define _GNU_SOURCE
#include "CLinuxIO.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// OpenSSL 3 is loaded when the first encrypted connection is made: neither the build nor a board without one needs it. The
// prototypes are those of its manual pages, with its opaque types as void. No function here touches a socket: bytes come and go
// through memory BIOs, so that nothing waits and no signal is raised by a connection that has gone.

static struct {
  const void *(*client_method)(void);
  void *(*context_new)(const void *);
  void (*context_free)(void *);
  long (*context_control)(void *, int, long, void *);
  int (*default_paths)(void *);
  int (*load_authorities)(void *, const char *, const char *);
  void (*context_verify)(void *, int, int (*)(int, void *));
  void *(*new)(void *);
  void (*free)(void *);
  void (*set_bio)(void *, void *, void *);
  long (*control)(void *, int, long, void *);
  int (*set_host)(void *, const char *);
  void *(*parameters)(void *);
  void (*connect_state)(void *);
  int (*handshake)(void *);
  int (*read)(void *, void *, int);
  int (*write)(void *, const void *, int);
  int (*get_error)(const void *, int);
  long (*verify_result)(const void *);
  const void *(*memory_method)(void);
  void *(*bio_new)(const void *);
  int (*bio_read)(void *, void *, int);
  int (*bio_write)(void *, const void *, int);
  int (*set_address)(void *, const char *);
  const char *(*verify_words)(long);
  const char *(*store_file)(void);
  const char *(*store_file_name)(void);
  const char *(*store_folder)(void);
  const char *(*store_folder_name)(void);
  unsigned long (*next_error)(void);
  const char *(*reason)(unsigned long);
  void (*clear_errors)(void);
  int (*store_error)(const void *);
  void *(*store_certificate)(const void *);
  void *(*extension)(const void *, int, int *, int *);
  int (*stack_count)(const void *);
  void *(*stack_value)(const void *, int);
  void *(*general_name)(const void *, int *);
  void (*free_general_names)(void *);
  const unsigned char *(*string_bytes)(const void *);
  int (*string_length)(const void *);
} ssl;

enum {
  control_minimum_version = 123,
  control_server_name = 55,
  version_1_2 = 0x0303,
  verify_peer = 1,
  error_ssl = 1,
  error_want_read = 2,
  error_want_write = 3,
  error_closed = 6,
  // X509_V_ERR_HOSTNAME_MISMATCH and X509_V_ERR_IP_ADDRESS_MISMATCH, NID_subject_alt_name, GEN_DNS and GEN_IPADD.
  name_mismatch = 62,
  address_mismatch = 64,
  alternative_names = 85,
  type_name = 2,
  type_address = 7,
};

enum { MOST_NAMES = 3, NAME_SIZE = 48 };

// The names of the certificate of this thread's handshake, if it is for another one: the library keeps no certificate that it refuses.
static _Thread_local char certificate_names[MOST_NAMES * (NAME_SIZE + 2) + 8];

static int loaded;

static void load(void) {
  loaded = -ENOSYS;
  void *library = dlopen("libssl.so.3", RTLD_NOW | RTLD_LOCAL);
  if (!library) return;
  const struct {
    const char *name;
    void *place;
  } functions[] = {
      {"TLS_client_method", &ssl.client_method},
      {"SSL_CTX_new", &ssl.context_new},
      {"SSL_CTX_free", &ssl.context_free},
      {"SSL_CTX_ctrl", &ssl.context_control},
      {"SSL_CTX_set_default_verify_paths", &ssl.default_paths},
      {"SSL_CTX_load_verify_locations", &ssl.load_authorities},
      {"SSL_CTX_set_verify", &ssl.context_verify},
      {"SSL_new", &ssl.new},
      {"SSL_free", &ssl.free},
      {"SSL_set_bio", &ssl.set_bio},
      {"SSL_ctrl", &ssl.control},
      {"SSL_set1_host", &ssl.set_host},
      {"SSL_get0_param", &ssl.parameters},
      {"SSL_set_connect_state", &ssl.connect_state},
      {"SSL_do_handshake", &ssl.handshake},
      {"SSL_read", &ssl.read},
      {"SSL_write", &ssl.write},
      {"SSL_get_error", &ssl.get_error},
      {"SSL_get_verify_result", &ssl.verify_result},
      // Of libcrypto, which comes with it.
      {"BIO_s_mem", &ssl.memory_method},
      {"BIO_new", &ssl.bio_new},
      {"BIO_read", &ssl.bio_read},
      {"BIO_write", &ssl.bio_write},
      {"X509_VERIFY_PARAM_set1_ip_asc", &ssl.set_address},
      {"X509_verify_cert_error_string", &ssl.verify_words},
      {"X509_get_default_cert_file", &ssl.store_file},
      {"X509_get_default_cert_file_env", &ssl.store_file_name},
      {"X509_get_default_cert_dir", &ssl.store_folder},
      {"X509_get_default_cert_dir_env", &ssl.store_folder_name},
      {"ERR_get_error", &ssl.next_error},
      {"ERR_reason_error_string", &ssl.reason},
      {"ERR_clear_error", &ssl.clear_errors},
      {"X509_STORE_CTX_get_error", &ssl.store_error},
      {"X509_STORE_CTX_get_current_cert", &ssl.store_certificate},
      {"X509_get_ext_d2i", &ssl.extension},
      {"OPENSSL_sk_num", &ssl.stack_count},
      {"OPENSSL_sk_value", &ssl.stack_value},
      {"GENERAL_NAME_get0_value", &ssl.general_name},
      {"GENERAL_NAMES_free", &ssl.free_general_names},
      {"ASN1_STRING_get0_data", &ssl.string_bytes},
      {"ASN1_STRING_length", &ssl.string_length},
  };
  for (size_t index = 0; index < sizeof functions / sizeof functions[0]; index++) {
    void *function = dlsym(library, functions[index].name);
    if (!function) return;
    memcpy(functions[index].place, &function, sizeof function);
  }
  loaded = 0;
}

struct lodestone_tls {
  void *context;
  void *connection;
  // Owned by the connection: what the network brings, and what is to go there.
  void *incoming;
  void *outgoing;
};

// Whether there is anything that certificates can be verified with; where it should be, if not.
static int has_store(char *error, size_t size) {
  const char *file = secure_getenv(ssl.store_file_name());
  const char *folder = secure_getenv(ssl.store_folder_name());
  if (!file) file = ssl.store_file();
  if (!folder) folder = ssl.store_folder();
  if (access(file, R_OK) == 0) return 1;
  DIR *entries = opendir(folder);
  int found = 0;
  for (struct dirent *entry; entries && !found && (entry = readdir(entries));) found = entry->d_name[0] != '.';
  if (entries) closedir(entries);
  if (!found) snprintf(error, size, "there are no certificates of authorities in %s: install ca-certificates", folder);
  return found;
}

// OpenSSL's own words for what went wrong last on this thread.
static void explain(char *error, size_t size) {
  unsigned long code = ssl.next_error();
  const char *words = code ? ssl.reason(code) : NULL;
  snprintf(error, size, "%s", words ? words : "unknown error");
  ssl.clear_errors();
}

// Has a context trust the authorities of a file, or those of the system's store. Returns 1 if it does.
static int trust(void *context, const char *authorities, char *error, size_t size) {
  if (!authorities) return ssl.default_paths(context);
  if (ssl.load_authorities(context, authorities, NULL) == 1) return 1;
  ssl.clear_errors();
  snprintf(error, size, "%s", access(authorities, R_OK) < 0 ? strerror(errno) : "there is no certificate in PEM form in it");
  return 0;
}

// Writes a name of a certificate as text. Returns whether it is one: a server may write anything there.
static int write_name(int type, const void *value, char *text, size_t size) {
  const unsigned char *bytes = ssl.string_bytes(value);
  int length = ssl.string_length(value);
  if (!bytes || length <= 0) return 0;
  if (type == type_address) {
    int family = length == 4 ? AF_INET : length == 16 ? AF_INET6 : 0;
    return family && inet_ntop(family, bytes, text, (socklen_t)size) != NULL;
  }
  if (type != type_name || (size_t)length >= size) return 0;
  for (int index = 0; index < length; index++) {
    if (bytes[index] <= ' ' || bytes[index] > '~') return 0;
    text[index] = (char)bytes[index];
  }
  text[length] = 0;
  return 1;
}

// Keeps the first names of a certificate that is for another server than the one that was asked for.
static int note_names(int is_fine, void *store) {
  int error = is_fine ? 0 : ssl.store_error(store);
  void *certificate = error == name_mismatch || error == address_mismatch ? ssl.store_certificate(store) : NULL;
  void *names = certificate ? ssl.extension(certificate, alternative_names, NULL, NULL) : NULL;
  if (!names) return is_fine;
  int count = ssl.stack_count(names), written = 0;
  size_t end = 0;
  for (int index = 0; index < count && written < MOST_NAMES; index++) {
    int type = 0;
    char text[NAME_SIZE];
    const void *value = ssl.general_name(ssl.stack_value(names, index), &type);
    if ((type != type_name && type != type_address) || !value || !write_name(type, value, text, sizeof text)) continue;
    end += (size_t)snprintf(certificate_names + end, sizeof certificate_names - end, "%s%s", written ? ", " : "", text);
    written++;
    if (written == MOST_NAMES && index + 1 < count) snprintf(certificate_names + end, sizeof certificate_names - end, ", ...");
  }
  ssl.free_general_names(names);
  return is_fine;
}

int lodestone_tls_open(const char *host, const char *authorities, struct lodestone_tls **result, char *error, size_t size) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load);
  *result = NULL;
  if (loaded < 0) {
    snprintf(error, size, "OpenSSL 3 (libssl.so.3) is not installed: install libssl3");
    return loaded;
  }
  ssl.clear_errors();
  if (!authorities && !has_store(error, size)) return -ENOENT;
  struct lodestone_tls *tls = calloc(1, sizeof *tls);
  if (!tls) return -ENOMEM;
  tls->context = ssl.context_new(ssl.client_method());
  if (!tls->context || ssl.context_control(tls->context, control_minimum_version, version_1_2, NULL) != 1) goto failed;
  *error = 0;
  if (trust(tls->context, authorities, error, size) != 1) {
    if (!*error) goto failed;
    lodestone_tls_close(tls);
    return -ENOENT;
  }
  ssl.context_verify(tls->context, verify_peer, note_names);
  tls->connection = ssl.new(tls->context);
  if (!tls->connection) goto failed;
  tls->incoming = ssl.bio_new(ssl.memory_method());
  tls->outgoing = ssl.bio_new(ssl.memory_method());
  if (!tls->incoming || !tls->outgoing) goto failed;
  ssl.set_bio(tls->connection, tls->incoming, tls->outgoing);
  unsigned char address[16];
  if (inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1) {
    if (ssl.set_address(ssl.parameters(tls->connection), host) != 1) goto failed;
  } else {
    char name[256];
    snprintf(name, sizeof name, "%s", host);
    if (ssl.set_host(tls->connection, host) != 1 ||
        ssl.control(tls->connection, control_server_name, 0, name) != 1)
      goto failed;
  }
  ssl.connect_state(tls->connection);
  *result = tls;
  return 0;
failed:
  explain(error, size);
  lodestone_tls_close(tls);
  return -EIO;
}

void lodestone_tls_close(struct lodestone_tls *tls) {
  if (!tls) return;
  // The BIOs go with the connection.
  if (tls->connection) ssl.free(tls->connection);
  if (tls->context) ssl.context_free(tls->context);
  free(tls);
}

int lodestone_tls_feed(struct lodestone_tls *tls, const void *bytes, size_t count) {
  return ssl.bio_write(tls->incoming, bytes, (int)count) == (int)count ? 0 : -ENOMEM;
}

int lodestone_tls_take(struct lodestone_tls *tls, void *bytes, size_t count) {
  int taken = ssl.bio_read(tls->outgoing, bytes, (int)count);
  return taken > 0 ? taken : 0;
}

int lodestone_tls_handshake(struct lodestone_tls *tls, char *error, size_t size) {
  ssl.clear_errors();
  *certificate_names = 0;
  int result = ssl.handshake(tls->connection);
  if (result == 1) return 1;
  int kind = ssl.get_error(tls->connection, result);
  if (kind == error_want_read || kind == error_want_write) return 0;
  long verified = ssl.verify_result(tls->connection);
  if (verified != 0) {
    const char *words = ssl.verify_words(verified);
    if (*certificate_names) {
      snprintf(error, size, "its certificate is not accepted: %s: it is for %s: the address in the configuration must be one of its names",
               words, certificate_names);
    } else if (verified == name_mismatch || verified == address_mismatch) {
      snprintf(error, size, "its certificate is not accepted: %s: the address in the configuration must be a name of the certificate",
               words);
    } else {
      snprintf(error, size, "its certificate is not accepted: %s", words);
    }
    ssl.clear_errors();
  } else {
    char words[160];
    explain(words, sizeof words);
    snprintf(error, size, "no encryption can be agreed upon: %s", words);
  }
  return -EIO;
}

int lodestone_tls_read(struct lodestone_tls *tls, void *bytes, size_t count, char *error, size_t size) {
  ssl.clear_errors();
  int result = ssl.read(tls->connection, bytes, (int)count);
  if (result > 0) return result;
  int kind = ssl.get_error(tls->connection, result);
  if (kind == error_want_read || kind == error_want_write) return 0;
  if (kind == error_closed) return -EPIPE;
  explain(error, size);
  return -EIO;
}

int lodestone_tls_write(struct lodestone_tls *tls, const void *bytes, size_t count) {
  ssl.clear_errors();
  int result = ssl.write(tls->connection, bytes, (int)count);
  return result == (int)count ? 0 : -EIO;
}
