/* Lets writes to the files of one folder fail, or wait. Preloaded (LD_PRELOAD) by the tests.

   faults_arm(folder, at, error, mode): the write number `at` from now on fails with `error`.
     ONCE: it alone; ALWAYS: all after it too; SHORT: half of it is written, and the next fails.
   faults_delay(folder, ms): every write waits for 0 to `ms` milliseconds.
   faults_count(): how many writes there were since. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

enum { ONCE, ALWAYS, SHORT };

static char folder[4096];
static atomic_long count;
static long fail_at;
static int fail_error, fail_mode;
static int delay_ms;
static unsigned seed;

void faults_arm(const char *path, long at, int error, int mode) {
    strncpy(folder, path, sizeof folder - 1);
    count = 0;
    fail_at = at;
    fail_error = error;
    fail_mode = mode;
}

void faults_delay(const char *path, int milliseconds) {
    strncpy(folder, path, sizeof folder - 1);
    delay_ms = milliseconds;
    seed = (unsigned)getpid() ^ (unsigned)time(NULL);
}

long faults_count(void) { return count; }

static int concerns(int file) {
    char link[64], path[4096];
    if (!folder[0]) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n < 0) return 0;
    path[n] = 0;
    return strncmp(path, folder, strlen(folder)) == 0;
}

/* -1: fails; 0: goes through; 1: a part of it is written. */
static int decide(int file) {
    int kept = errno;
    if (!concerns(file)) { errno = kept; return 0; }
    if (delay_ms > 0) usleep((useconds_t)(rand_r(&seed) % (delay_ms * 1000 + 1)));
    errno = kept;
    long n = ++count;
    if (fail_at <= 0 || n < fail_at) return 0;
    if (fail_mode == SHORT && n == fail_at) return 1;
    if (fail_mode == SHORT && n > fail_at + 1) return 0;
    if (fail_mode == ONCE && n > fail_at) return 0;
    errno = fail_error;
    return -1;
}

#define REAL(name, type) \
    static type real; \
    if (!real) real = (type)dlsym(RTLD_NEXT, #name);

typedef ssize_t (*write_t)(int, const void *, size_t);
typedef ssize_t (*pwrite_t)(int, const void *, size_t, off64_t);
typedef int (*sync_t)(int);
typedef int (*truncate_t)(int, off64_t);

ssize_t write(int file, const void *data, size_t n) {
    REAL(write, write_t)
    int what = decide(file);
    if (what < 0) return -1;
    return real(file, data, what && n > 1 ? n / 2 : n);
}

ssize_t pwrite64(int file, const void *data, size_t n, off64_t place) {
    REAL(pwrite64, pwrite_t)
    int what = decide(file);
    if (what < 0) return -1;
    return real(file, data, what && n > 1 ? n / 2 : n, place);
}

ssize_t pwrite(int file, const void *data, size_t n, off_t place) {
    return pwrite64(file, data, n, place);
}

int fsync(int file) {
    REAL(fsync, sync_t)
    return decide(file) < 0 ? -1 : real(file);
}

int fdatasync(int file) {
    REAL(fdatasync, sync_t)
    return decide(file) < 0 ? -1 : real(file);
}

int ftruncate64(int file, off64_t length) {
    REAL(ftruncate64, truncate_t)
    return decide(file) < 0 ? -1 : real(file, length);
}

int ftruncate(int file, off_t length) { return ftruncate64(file, length); }
