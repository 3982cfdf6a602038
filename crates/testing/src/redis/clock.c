// Moves the wall clock of the process that preloads it by the seconds in a file.
//
// libfaketime would do, but it allocates on first use, and Redis has an allocator that asks for the time on
// first use. This asks the kernel itself and allocates nothing.

#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t *seconds;

static int64_t shift(void) {
    if (!seconds) {
        const char *path = getenv("ROPELINE_TESTING_CLOCK");
        int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
        void *page = mmap(0, sizeof *seconds, PROT_READ, MAP_SHARED, file, 0);
        if (page == MAP_FAILED) abort();
        close(file);
        seconds = page;
    }
    return *seconds;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    int failed = syscall(SYS_clock_gettime, clock, now);
    if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        now->tv_sec += shift();
    return failed;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    int failed = syscall(SYS_gettimeofday, now, zone);
    if (!failed) now->tv_sec += shift();
    return failed;
}

time_t time(time_t *result) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (result) *result = now.tv_sec;
    return now.tv_sec;
}
