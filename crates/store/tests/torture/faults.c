/* A file layer for crash tests, preloaded into the process under test.
 *
 * It watches all files below FAULTS_FOLDER and counts the calls that change them. At the call number
 * FAULTS_AT it does what FAULTS_MODE says:
 *
 *   power     takes away what was not synced, as a loss of power may: of every file's writes since its
 *             last sync a random part stays (a prefix with a torn end, or random pages), and the newest
 *             creations (of folders, too), renames and removals in folders not synced since are undone; then
 *             SIGKILL.
 *   names     the same, where syncs alone are counted of folders in which a file got a new name since their last sync.
 *   eio       this and (by the seed) the following writes and syncs fail with EIO.
 *   enospc    this and (by the seed) the following writes fail with ENOSPC, some after a part.
 *   sync-eio  syncs alone are counted, and fail with EIO.
 *   full      this and the next few writes fail with ENOSPC, some after a part; then there is room for
 *             FAULTS_AT writes, and so on.
 *
 * FAULTS_SEED makes all choices repeatable. Not watched: stdio (RocksDB's info log), mmap. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FDS_MAX 65536
#define PAGE 4096

struct undo {             /* One write or truncation since the last sync. */
    struct undo *before;
    off_t offset;         /* Where it began to change bytes. */
    size_t length;        /* How many it changed. */
    off_t size;           /* The file's size before. */
    size_t kept;          /* How many of the old bytes follow. */
    unsigned char old[];
};

struct file {
    struct file *next;
    dev_t device;
    ino_t inode;
    int own;              /* Our own descriptor, for reading and writing. */
    struct undo *last;
};

enum change_kind { CREATED, RENAMED, REMOVED };

struct change {           /* One change of a folder since its last sync. */
    struct change *before;
    enum change_kind kind;
    char *path, *target;  /* `target` of a rename. */
    char *saved;          /* What the path (of a rename: the target) was, linked aside. */
};

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static const char *folder, *mode;
static size_t folder_length;
static long at, calls, saves;
static uint64_t seed;
static int persistent, struck, loses;
static long span;
static struct file *files;
static struct file *by_fd[FDS_MAX];
static struct change *changes;

static int (*real_open)(const char *, int, ...);
static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);
static int (*real_ftruncate)(int, off_t);
static int (*real_close)(int);
static int (*real_rename)(const char *, const char *);
static int (*real_mkdir)(const char *, mode_t);
static int (*real_unlink)(const char *);
static int (*real_link)(const char *, const char *);
static int (*real_fallocate)(int, int, off_t, off_t);

static uint64_t chance(uint64_t below) {
    seed += 0x9e3779b97f4a7c15u;
    uint64_t z = seed;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return below ? z % below : 0;
}

__attribute__((constructor)) static void start(void) {
    real_open = dlsym(RTLD_NEXT, "open");
    real_write = dlsym(RTLD_NEXT, "write");
    real_pwrite = dlsym(RTLD_NEXT, "pwrite");
    real_fsync = dlsym(RTLD_NEXT, "fsync");
    real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
    real_ftruncate = dlsym(RTLD_NEXT, "ftruncate");
    real_close = dlsym(RTLD_NEXT, "close");
    real_rename = dlsym(RTLD_NEXT, "rename");
    real_unlink = dlsym(RTLD_NEXT, "unlink");
    real_fallocate = dlsym(RTLD_NEXT, "fallocate");
    folder = getenv("FAULTS_FOLDER");
    mode = getenv("FAULTS_MODE");
    if (!folder || !mode || !getenv("FAULTS_AT") || !getenv("FAULTS_SEED")) {
        folder = NULL;
        return;
    }
    folder_length = strlen(folder);
    at = atol(getenv("FAULTS_AT"));
    seed = strtoull(getenv("FAULTS_SEED"), NULL, 10);
    persistent = chance(2);
    if (!strcmp(mode, "sync-eio")) at = at % 200 + 1;
    if (!strcmp(mode, "names")) at = at % 12 + 1;
    loses = !strcmp(mode, "power") || !strcmp(mode, "names");
    span = 1 + chance(12);
}

static int watched(const char *path) {
    return folder && path && !strncmp(path, folder, folder_length) && !strstr(path, "/faults.saved.");
}

static int same_parent(const char *path, const char *parent) {
    const char *slash = strrchr(path, '/');
    return slash && (size_t)(slash - path) == strlen(parent) && !strncmp(path, parent, slash - path);
}

/* ---- what a loss of power takes away ---- */

static void put_back(struct file *file, struct undo *undo, off_t from, off_t to) {
    /* Restores the bytes of [from, to) within the change; what had no old bytes becomes zeros. */
    for (off_t position = from; position < to; position++) {
        size_t index = position - undo->offset;
        unsigned char byte = index < undo->kept ? undo->old[index] : 0;
        if (real_pwrite(file->own, &byte, 1, position) != 1) abort();
    }
}

static void lose_writes(struct file *file) {
    long count = 0;
    for (struct undo *undo = file->last; undo; undo = undo->before) count++;
    if (!count) return;
    int pages = chance(3) == 0;
    long stay = chance(count + 1);
    for (struct undo *undo = file->last; undo; undo = undo->before, count--) {
        off_t end = undo->offset + undo->length;
        if (pages) {
            for (off_t page = undo->offset; page < end; page = (page / PAGE + 1) * PAGE) {
                off_t page_end = (page / PAGE + 1) * PAGE;
                if (chance(2)) put_back(file, undo, page, page_end < end ? page_end : end);
            }
        } else if (count > stay) {
            int torn = count == stay + 1;
            off_t cut = undo->offset + (torn ? (off_t)chance(undo->length + 1) : 0);
            off_t old_end = undo->offset + undo->kept;
            if (cut < old_end) put_back(file, undo, cut, old_end);
            off_t size = undo->size > cut ? undo->size : cut;
            if (real_ftruncate(file->own, size)) abort();
        }
    }
}

static int plain_link(const char *path, const char *target) {
    if (!real_link) real_link = dlsym(RTLD_NEXT, "link");
    return real_link(path, target);
}

static void lose_folder(const char *path) {
    char lost[PATH_MAX];
    snprintf(lost, sizeof lost, "%s/faults.saved.%ld.%d", folder, saves++, getpid());
    real_rename(path, lost);
}

static void lose_changes(void) {
    long count = 0;
    for (struct change *change = changes; change; change = change->before) count++;
    long stay = chance(count + 1);
    for (struct change *change = changes; change && count > stay; change = change->before, count--) {
        switch (change->kind) {
        case CREATED:
            if (real_unlink(change->path)) lose_folder(change->path);
            break;
        case RENAMED:
            real_rename(change->target, change->path);
            if (change->saved && plain_link(change->saved, change->target)) abort();
            break;
        case REMOVED:
            if (change->saved && plain_link(change->saved, change->path)) abort();
            break;
        }
    }
}

static void lose_power(void) {
    /* `guard` is held, so no other thread changes a file any more. */
    for (struct file *file = files; file; file = file->next) lose_writes(file);
    lose_changes();
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

/* ---- counting and failing ---- */

/* Counts a call; the answer is the errno with which it must fail, or 0. `guard` is held. */
static int count(int is_write, int is_sync) {
    if (loses) {
        if (!strcmp(mode, "power") && ++calls == at) lose_power();
        return 0;
    }
    int full = !strcmp(mode, "full");
    int concerns = !strcmp(mode, "eio") ? is_write || is_sync : full || !strcmp(mode, "enospc") ? is_write : is_sync;
    if (!concerns) return 0;
    calls++;
    if (full) return calls % (at + span) >= at ? ENOSPC : 0;
    if (calls < at || (struck && !persistent)) return 0;
    struck = 1;
    return !strcmp(mode, "enospc") ? ENOSPC : EIO;
}

/* ---- book-keeping ---- */

static struct file *file_of(int fd) {
    struct stat status;
    if (fstat(fd, &status) || !S_ISREG(status.st_mode)) return NULL;
    for (struct file *file = files; file; file = file->next)
        if (file->device == status.st_dev && file->inode == status.st_ino) return file;
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct file *file = calloc(1, sizeof *file);
    file->device = status.st_dev;
    file->inode = status.st_ino;
    file->own = real_open(path, O_RDWR | O_CLOEXEC);
    file->next = files;
    files = file;
    return file;
}

static void remember(struct file *file, off_t offset, size_t length) {
    struct stat status;
    if (file->own < 0 || fstat(file->own, &status)) return;
    size_t kept = offset < status.st_size ? status.st_size - offset : 0;
    if (kept > length) kept = length;
    struct undo *undo = malloc(sizeof *undo + kept);
    undo->before = file->last;
    undo->offset = offset;
    undo->length = length;
    undo->size = status.st_size;
    undo->kept = kept ? (size_t)pread(file->own, undo->old, kept, offset) : 0;
    file->last = undo;
}

static void settle(struct file *file) {
    while (file->last) {
        struct undo *undo = file->last;
        file->last = undo->before;
        free(undo);
    }
}

static char *save(const char *path) {
    struct stat status;
    if (!loses || lstat(path, &status)) return NULL;
    char *saved = malloc(PATH_MAX);
    snprintf(saved, PATH_MAX, "%s/faults.saved.%ld.%d", folder, saves++, getpid());
    if (plain_link(path, saved)) { free(saved); return NULL; }
    return saved;
}

static void note(enum change_kind kind, const char *path, const char *target, char *saved) {
    struct change *change = malloc(sizeof *change);
    *change = (struct change){ changes, kind, strdup(path), target ? strdup(target) : NULL, saved };
    changes = change;
}

static void settle_folder(int fd) {
    char link_path[64], path[PATH_MAX];
    snprintf(link_path, sizeof link_path, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link_path, path, sizeof path - 1);
    if (length < 0) return;
    path[length] = 0;
    for (struct change **at_change = &changes; *at_change;) {
        struct change *change = *at_change;
        if (same_parent(change->path, path)) {
            *at_change = change->before;
            if (change->saved) real_unlink(change->saved);
            free(change);
        } else {
            at_change = &change->before;
        }
    }
}

/* Whether a file got a new name in this folder since it was synced. */
static int has_new_names(int fd) {
    char link_path[64], path[PATH_MAX];
    snprintf(link_path, sizeof link_path, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link_path, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    for (struct change *change = changes; change; change = change->before)
        if (change->kind == RENAMED && same_parent(change->path, path)) return 1;
    return 0;
}

static struct file *of_fd(int fd) { return fd >= 0 && fd < FDS_MAX ? by_fd[fd] : NULL; }

/* ---- the calls ---- */

static int open_watched(const char *path, int flags, mode_t permissions) {
    pthread_mutex_lock(&guard);
    struct stat status;
    int existed = !stat(path, &status);
    int creates = (flags & O_CREAT) && !existed;
    int error = creates ? count(1, 0) : 0;
    int fd = -1;
    if (!error) {
        if ((flags & O_TRUNC) && existed && status.st_size) {
            int old = real_open(path, O_RDWR | O_CLOEXEC);
            struct file *file = old >= 0 ? file_of(old) : NULL;
            if (file) remember(file, 0, status.st_size);
            if (old >= 0) real_close(old);
        }
        fd = real_open(path, flags, permissions);
        if (fd >= 0 && creates) note(CREATED, path, NULL, NULL);
        if (fd >= 0 && fd < FDS_MAX && (flags & O_ACCMODE) != O_RDONLY) by_fd[fd] = file_of(fd);
    }
    pthread_mutex_unlock(&guard);
    if (error) errno = error;
    return fd;
}

#define OPEN(name)                                                             \
    int name(const char *path, int flags, ...) {                               \
        mode_t permissions = 0;                                                \
        if (flags & (O_CREAT | O_TMPFILE)) {                                   \
            va_list list;                                                      \
            va_start(list, flags);                                             \
            permissions = va_arg(list, mode_t);                                \
            va_end(list);                                                      \
        }                                                                      \
        if (!real_open) real_open = dlsym(RTLD_NEXT, "open");                  \
        if (!watched(path)) return real_open(path, flags, permissions);        \
        return open_watched(path, flags, permissions);                         \
    }
OPEN(open)
OPEN(open64)

int close(int fd) {
    if (!real_close) real_close = dlsym(RTLD_NEXT, "close");
    if (fd >= 0 && fd < FDS_MAX) by_fd[fd] = NULL;
    return real_close(fd);
}

static ssize_t write_watched(struct file *file, int fd, const void *bytes, size_t length, off_t offset, int placed) {
    pthread_mutex_lock(&guard);
    int error = count(1, 0);
    ssize_t written = -1;
    if (error == ENOSPC && length > 1 && chance(2)) {
        length = 1 + chance(length - 1); /* The disk fills up in the middle of a write. */
        error = 0;
    }
    if (!error) {
        if (!placed) {
            struct stat status;
            int append = fcntl(fd, F_GETFL) & O_APPEND;
            offset = append && !fstat(fd, &status) ? status.st_size : lseek(fd, 0, SEEK_CUR);
        }
        remember(file, offset, length);
        written = placed ? real_pwrite(fd, bytes, length, offset) : real_write(fd, bytes, length);
    }
    pthread_mutex_unlock(&guard);
    if (error) errno = error;
    return written;
}

ssize_t write(int fd, const void *bytes, size_t length) {
    if (!real_write) real_write = dlsym(RTLD_NEXT, "write");
    struct file *file = of_fd(fd);
    return file ? write_watched(file, fd, bytes, length, 0, 0) : real_write(fd, bytes, length);
}

#define PWRITE(name)                                                           \
    ssize_t name(int fd, const void *bytes, size_t length, off_t offset) {     \
        struct file *file = of_fd(fd);                                         \
        if (!file) return real_pwrite(fd, bytes, length, offset);              \
        return write_watched(file, fd, bytes, length, offset, 1);              \
    }
PWRITE(pwrite)
PWRITE(pwrite64)

static int sync_watched(int fd, int (*real)(int)) {
    struct file *file = of_fd(fd);
    struct stat status;
    if (!folder || (!file && (fstat(fd, &status) || !S_ISDIR(status.st_mode)))) return real(fd);
    pthread_mutex_lock(&guard);
    int error = count(0, 1);
    if (!strcmp(mode, "names") && !file && has_new_names(fd) && ++calls == at) lose_power();
    int outcome = error ? -1 : real(fd);
    if (!outcome) {
        if (file) settle(file); else settle_folder(fd);
    }
    pthread_mutex_unlock(&guard);
    if (error) errno = error;
    return outcome;
}

int fsync(int fd) { return sync_watched(fd, real_fsync); }
int fdatasync(int fd) { return sync_watched(fd, real_fdatasync); }
/* sync_file_range promises nothing, so it settles nothing and is not watched. */

#define FTRUNCATE(name)                                                        \
    int name(int fd, off_t size) {                                             \
        struct file *file = of_fd(fd);                                         \
        if (!file) return real_ftruncate(fd, size);                            \
        pthread_mutex_lock(&guard);                                            \
        int error = count(1, 0);                                               \
        int outcome = -1;                                                      \
        struct stat status;                                                    \
        if (!error) {                                                          \
            if (!fstat(fd, &status) && status.st_size > size)                  \
                remember(file, size, status.st_size - size);                   \
            outcome = real_ftruncate(fd, size);                                \
        }                                                                      \
        pthread_mutex_unlock(&guard);                                          \
        if (error) errno = error;                                              \
        return outcome;                                                        \
    }
FTRUNCATE(ftruncate)
FTRUNCATE(ftruncate64)

#define FALLOCATE(name)                                                        \
    int name(int fd, int flags, off_t offset, off_t length) {                  \
        if (!of_fd(fd)) return real_fallocate(fd, flags, offset, length);      \
        pthread_mutex_lock(&guard);                                            \
        int error = count(1, 0);                                               \
        int outcome = error ? -1 : real_fallocate(fd, flags, offset, length);  \
        pthread_mutex_unlock(&guard);                                          \
        if (error) errno = error;                                              \
        return outcome;                                                        \
    }
FALLOCATE(fallocate)
FALLOCATE(fallocate64)

int rename(const char *path, const char *target) {
    if (!real_rename) real_rename = dlsym(RTLD_NEXT, "rename");
    if (!watched(path) || !watched(target)) return real_rename(path, target);
    pthread_mutex_lock(&guard);
    int error = count(1, 0);
    int outcome = -1;
    if (!error) {
        char *saved = save(target);
        outcome = real_rename(path, target);
        if (!outcome) note(RENAMED, path, target, saved);
    }
    pthread_mutex_unlock(&guard);
    if (error) errno = error;
    return outcome;
}

int link(const char *path, const char *target) {
    if (!watched(target)) return plain_link(path, target);
    pthread_mutex_lock(&guard);
    int error = count(1, 0);
    int outcome = error ? -1 : plain_link(path, target);
    if (!outcome) note(CREATED, target, NULL, NULL);
    pthread_mutex_unlock(&guard);
    if (error) errno = error;
    return outcome;
}

int mkdir(const char *path, mode_t rights) {
    if (!real_mkdir) real_mkdir = dlsym(RTLD_NEXT, "mkdir");
    if (!watched(path)) return real_mkdir(path, rights);
    pthread_mutex_lock(&guard);
    int error = count(1, 0);
    int outcome = error ? -1 : real_mkdir(path, rights);
    if (!outcome) note(CREATED, path, NULL, NULL);
    pthread_mutex_unlock(&guard);
    if (error) errno = error;
    return outcome;
}

int unlink(const char *path) {
    if (!real_unlink) real_unlink = dlsym(RTLD_NEXT, "unlink");
    if (!watched(path)) return real_unlink(path);
    pthread_mutex_lock(&guard);
    int error = count(1, 0);
    int outcome = -1;
    if (!error) {
        char *saved = save(path);
        outcome = real_unlink(path);
        if (!outcome) note(REMOVED, path, NULL, saved);
    }
    pthread_mutex_unlock(&guard);
    if (error) errno = error;
    return outcome;
}
