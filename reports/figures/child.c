#include "reports/figures/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

enum { READ_SIZE = 65536, STREAMS = 3 };

/* ours[i] and theirs[i] are the two ends of the child's stream i; -1: closed. Sockets, because a
 * pipe whose reader has gone would send this process a signal. */
struct ends {
    int ours[STREAMS], theirs[STREAMS];
};

static void close_one(int *descriptor) {
    if (*descriptor >= 0) close(*descriptor);
    *descriptor = -1;
}

static void close_all(int descriptors[STREAMS]) {
    for (int i = 0; i < STREAMS; i++) close_one(&descriptors[i]);
}

static int open_ends(struct ends *ends) {
    *ends = (struct ends){{-1, -1, -1}, {-1, -1, -1}};
    for (int i = 0; i < STREAMS; i++) {
        int pair[2];
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) return errno;
        ends->ours[i] = pair[0];
        ends->theirs[i] = pair[1];
        fcntl(pair[0], F_SETFD, FD_CLOEXEC);
        fcntl(pair[1], F_SETFD, FD_CLOEXEC);
        if (shutdown(pair[0], i == 0 ? SHUT_RD : SHUT_WR) != 0) return errno;
    }
    return 0;
}

static int start(const struct gs_child *child, const int theirs[STREAMS], pid_t *id) {
    posix_spawn_file_actions_t actions;
    int failed = posix_spawn_file_actions_init(&actions);
    if (failed) return failed;
    for (int i = 0; i < STREAMS && !failed; i++)
        failed = posix_spawn_file_actions_adddup2(&actions, theirs[i], i);
    if (!failed)
        failed = posix_spawnp(id, child->arguments[0], &actions, NULL, child->arguments,
                              child->environment);
    posix_spawn_file_actions_destroy(&actions);
    return failed;
}

/* As much of the input as goes; its end, or a child that reads no more, closes the stream. */
static void give(int *descriptor, const char **input, size_t *size) {
    ssize_t count = *size ? send(*descriptor, *input, *size, MSG_NOSIGNAL | MSG_DONTWAIT) : 0;
    if (count > 0) {
        *input += count;
        *size -= (size_t)count;
    }
    bool later = count < 0 && (errno == EAGAIN || errno == EINTR);
    if (*size == 0 || (count < 0 && !later)) close_one(descriptor);
}

static void take(int *descriptor, struct gs_text *text) {
    char bytes[READ_SIZE];
    ssize_t count = recv(*descriptor, bytes, sizeof bytes, MSG_DONTWAIT);
    if (count > 0)
        gs_text_bytes(text, bytes, (size_t)count);
    else if (count == 0 || (errno != EAGAIN && errno != EINTR))
        close_one(descriptor);
}

/* Until the child has closed its output and its messages. */
static void exchange(int ours[STREAMS], const char *input, size_t size, struct gs_text *output,
                     struct gs_text *messages) {
    while (ours[1] >= 0 || ours[2] >= 0) {
        struct pollfd waited[STREAMS] = {
            {ours[0], POLLOUT, 0}, {ours[1], POLLIN, 0}, {ours[2], POLLIN, 0}};
        if (poll(waited, STREAMS, -1) < 0) continue; /* interrupted */
        if (waited[0].revents) give(&ours[0], &input, &size);
        if (waited[1].revents) take(&ours[1], output);
        if (waited[2].revents) take(&ours[2], messages);
    }
}

int gs_child_run(const struct gs_child *child, const char *input, size_t size,
                 struct gs_text *output, struct gs_text *messages, int *wait_status) {
    struct ends ends;
    pid_t id = 0;
    int failed = open_ends(&ends);
    if (!failed) failed = start(child, ends.theirs, &id);
    close_all(ends.theirs);
    if (!failed) exchange(ends.ours, input, size, output, messages);
    close_all(ends.ours);
    while (!failed && waitpid(id, wait_status, 0) < 0)
        if (errno != EINTR) failed = errno;
    return failed;
}
