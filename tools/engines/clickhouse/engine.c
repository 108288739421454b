/* ClickHouse as a process of its own, loaded from the library of chDB (libchdb.so).
 *
 *   engine LIBRARY SOCKET [ARGUMENT...]
 *
 * It listens on a Unix socket. Each connection is a session of the engine, in a thread of
 * its own. A request is a line and the bytes that it announces:
 *
 *   q FORMAT LENGTH     runs a statement and streams its rows
 *   c LENGTH            says what a text is to the engine: its class and its statements
 *
 * An answer is frames: a line with a status and a length, and so many bytes. The status is
 * 2 when more comes, 0 in the last frame, and 1 when the bytes are an error. The process
 * ends with its standard input. The ARGUMENTs are those of clickhouse-local. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct analysis { uint32_t size, statements, flags, class; };

static void **(*chdb_connect)(int, char **);
static void (*chdb_close_conn)(void **);
static void *(*chdb_query_n)(void *, const char *, size_t, const char *, size_t);
static void *(*chdb_stream_query_n)(void *, const char *, size_t, const char *, size_t);
static void *(*chdb_stream_fetch_result)(void *, void *);
static void (*chdb_stream_cancel_query)(void *, void *);
static char *(*chdb_result_buffer)(void *);
static size_t (*chdb_result_length)(void *);
static const char *(*chdb_result_error)(void *);
static void (*chdb_destroy_query_result)(void *);
static int (*chdb_classify_query_n)(void *, const char *, size_t, const char *, size_t, struct analysis *);

static pthread_mutex_t connecting = PTHREAD_MUTEX_INITIALIZER;
static int engine_argc;
static char *engine_argv[32];

static int answer(FILE *out, int status, const char *text, size_t length) {
  return fprintf(out, "%d %zu\n", status, length) < 0 || fwrite(text, 1, length, out) != length || fflush(out);
}

/* unstreamed is the error for statements that the library does not stream. */
static const char unstreamed[] = "Code: 36. DB::Exception: Streaming query is not supported";

/* at_once runs a statement and sends its rows when it has ended. */
static int at_once(void *conn, FILE *out, const char *sql, size_t length, const char *format) {
  void *result = chdb_query_n(conn, sql, length, format, strlen(format));
  const char *error = result ? chdb_result_error(result) : "no result";
  int left = error ? answer(out, 1, error, strlen(error)) : answer(out, 0, chdb_result_buffer(result), chdb_result_length(result));
  if (result) chdb_destroy_query_result(result);
  return left;
}

/* run streams the rows of a statement. It returns nonzero when the client has left. */
static int run(void *conn, FILE *out, const char *sql, size_t length, const char *format) {
  void *stream = chdb_stream_query_n(conn, sql, length, format, strlen(format));
  const char *error = stream ? chdb_result_error(stream) : "no result";
  int left = 0, failed = error != NULL;
  if (failed && !strncmp(error, unstreamed, sizeof unstreamed - 1)) {
    chdb_destroy_query_result(stream);
    return at_once(conn, out, sql, length, format);
  }
  if (failed) {
    left = answer(out, 1, error, strlen(error));
  }
  while (!failed && !left) {
    void *part = chdb_stream_fetch_result(conn, stream);
    size_t n = 0;
    if (!part) break;
    error = chdb_result_error(part);
    if (error) {
      failed = 1;
      left = answer(out, 1, error, strlen(error));
    } else if ((n = chdb_result_length(part)) > 0) {
      left = answer(out, 2, chdb_result_buffer(part), n);
    }
    chdb_destroy_query_result(part);
    if (!failed && n == 0) break;
  }
  if (left) chdb_stream_cancel_query(conn, stream);
  if (stream) chdb_destroy_query_result(stream);
  return left || (!failed && answer(out, 0, "", 0));
}

static int classify(void *conn, FILE *out, const char *sql, size_t length) {
  struct analysis a = {sizeof a, 0, 0, 0};
  char text[64];
  if (chdb_classify_query_n(conn, sql, length, NULL, 0, &a)) return answer(out, 1, "not classified", 14);
  snprintf(text, sizeof text, "%u %u", a.class, a.statements);
  return answer(out, 0, text, strlen(text));
}

static void *session(void *arg) {
  int fd = (int)(intptr_t)arg;
  FILE *in = fdopen(fd, "r"), *out = fdopen(dup(fd), "w");
  char line[256], format[128], what;
  pthread_mutex_lock(&connecting);
  void **conn = chdb_connect(engine_argc, engine_argv);
  pthread_mutex_unlock(&connecting);
  while (conn && fgets(line, sizeof line, in)) {
    size_t length;
    int left = 1;
    if (sscanf(line, "%c", &what) != 1) break;
    if (what == 'q' ? sscanf(line, "q %127s %zu", format, &length) != 2 : sscanf(line, "c %zu", &length) != 1) break;
    char *sql = malloc(length + 1);
    if (sql && fread(sql, 1, length, in) == length) {
      sql[length] = 0;
      left = what == 'q' ? run(*conn, out, sql, length, format) : classify(*conn, out, sql, length);
    }
    free(sql);
    if (left) break;
  }
  if (conn) {
    pthread_mutex_lock(&connecting);
    chdb_close_conn(conn);
    pthread_mutex_unlock(&connecting);
  }
  fclose(out);
  fclose(in);
  return NULL;
}

static void *accept_all(void *arg) {
  for (;;) {
    pthread_t thread;
    int fd = accept((int)(intptr_t)arg, NULL, NULL);
    if (fd < 0) continue;
    if (pthread_create(&thread, NULL, session, (void *)(intptr_t)fd)) close(fd);
    else pthread_detach(thread);
  }
  return NULL;
}

#define LOAD(name) if (!(*(void **)&name = dlsym(lib, #name))) { fprintf(stderr, "no %s\n", #name); return 2; }

int main(int argc, char **argv) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  pthread_t thread;
  char c;
  if (argc < 3 || argc > 32 || strlen(argv[2]) >= sizeof address.sun_path) {
    fprintf(stderr, "usage: engine LIBRARY SOCKET [ARGUMENT...]\n");
    return 2;
  }
  void *lib = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (!lib) { fprintf(stderr, "%s\n", dlerror()); return 2; }
  LOAD(chdb_connect) LOAD(chdb_close_conn) LOAD(chdb_query_n) LOAD(chdb_stream_query_n) LOAD(chdb_stream_fetch_result)
  LOAD(chdb_stream_cancel_query) LOAD(chdb_result_buffer) LOAD(chdb_result_length) LOAD(chdb_result_error)
  LOAD(chdb_destroy_query_result) LOAD(chdb_classify_query_n)
  engine_argv[engine_argc++] = "clickhouse";
  for (int i = 3; i < argc; i++) engine_argv[engine_argc++] = argv[i];
  /* The first connection starts the engine, which lives as long as it is open. */
  if (!chdb_connect(engine_argc, engine_argv)) { fprintf(stderr, "cannot start the engine\n"); return 2; }
  strcpy(address.sun_path, argv[2]);
  int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 128)) {
    perror(argv[2]);
    return 2;
  }
  if (pthread_create(&thread, NULL, accept_all, (void *)(intptr_t)listener)) return 2;
  printf("ready\n");
  fflush(stdout);
  while (read(0, &c, 1) > 0) {}
  _Exit(0);
}
