/* A process that asks ClickHouse, loaded from the library of chDB (libchdb.so).
 *
 *   oracle LIBRARY
 *
 * It reads requests from the standard input, each a line with a number of bytes and then
 * so many bytes of SQL. It answers each with a line of a status and a number of bytes, and
 * then so many bytes: rows as JSONCompactEachRow (status 0), or the error (status 1). The
 * engine is in a process of its own because a test in Go without cgo cannot load it, and
 * because it ends the process on some faults. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOAD(name) name = dlsym(lib, #name); if (!name) { fprintf(stderr, "no %s\n", #name); return 2; }

int main(int argc, char **argv) {
  void *lib, **conn;
  void **(*chdb_connect)(int, char **);
  void *(*chdb_query_n)(void *, const char *, size_t, const char *, size_t);
  char *(*chdb_result_buffer)(void *);
  size_t (*chdb_result_length)(void *);
  const char *(*chdb_result_error)(void *);
  void (*chdb_destroy_query_result)(void *);
  char *args[] = {"clickhouse", "--max_threads=1", NULL};
  const char *format = "JSONCompactEachRow";
  size_t length;

  if (argc != 2) { fprintf(stderr, "usage: oracle LIBRARY\n"); return 2; }
  lib = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (!lib) { fprintf(stderr, "%s\n", dlerror()); return 2; }
  LOAD(chdb_connect) LOAD(chdb_query_n) LOAD(chdb_result_buffer)
  LOAD(chdb_result_length) LOAD(chdb_result_error) LOAD(chdb_destroy_query_result)
  conn = chdb_connect(2, args);
  if (!conn) { fprintf(stderr, "cannot start the engine\n"); return 2; }
  while (scanf("%zu", &length) == 1 && getchar() == '\n') {
    char *sql = malloc(length + 1);
    if (!sql || fread(sql, 1, length, stdin) != length) return 2;
    void *result = chdb_query_n(*conn, sql, length, format, strlen(format));
    const char *error = chdb_result_error(result);
    if (error) {
      printf("1 %zu\n%s", strlen(error), error);
    } else {
      size_t n = chdb_result_length(result);
      printf("0 %zu\n", n);
      fwrite(chdb_result_buffer(result), 1, n, stdout);
    }
    fflush(stdout);
    chdb_destroy_query_result(result);
    free(sql);
  }
  fflush(NULL);
  _Exit(0);
}
