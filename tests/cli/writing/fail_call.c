/* fail_call N ERRNO once|on COMMAND…: runs the command and lets the N-th call that changes files
 * fail with ERRNO, that one alone or it and all later ones, as a full disk does. Seen from the
 * kernel's side, so that what stdio and HDF5 do inside counts too; children are followed.
 *
 * Counted: write, pwrite64, writev and fsync of regular files, ftruncate, rename, link, mkdir,
 * open with O_CREAT. Not removal, which cleaning up needs. With N 0 nothing fails and the last line
 * on standard error is their number. Exit: the command's, 128 + its signal, 125 when it made fewer
 * than N such calls, 77 where calls cannot be traced. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SKIPPED = 77, TOO_FEW = 125, NOT_RUN = 126, SIGNALLED = 128, TRACED = 1024 };

#if defined(__linux__) && defined(__x86_64__)
#include <sys/user.h>

enum { AT_CALL = SIGTRAP | 0x80 };

struct thread {
    pid_t id; /* 0: free */
    bool inside, failing;
};

static struct thread threads[TRACED];

static struct thread *thread_of(pid_t id) {
    struct thread *unused = NULL;
    for (size_t i = 0; i < TRACED; i++) {
        if (threads[i].id == id) return &threads[i];
        if (!unused && threads[i].id == 0) unused = &threads[i];
    }
    if (!unused) exit(NOT_RUN);
    *unused = (struct thread){.id = id};
    return unused;
}

static bool regular(pid_t id, unsigned long long descriptor) {
    if (descriptor <= 2) return false; /* messages */
    char path[64];
    struct stat info;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)id, (int)descriptor);
    return stat(path, &info) == 0 && (S_ISREG(info.st_mode) || S_ISDIR(info.st_mode));
}

static bool changes_files(pid_t id, const struct user_regs_struct *r) {
    switch (r->orig_rax) {
    case SYS_write:
    case SYS_pwrite64:
    case SYS_writev:
    case SYS_fsync:
        return regular(id, r->rdi);
    case SYS_ftruncate:
    case SYS_rename:
    case SYS_renameat:
    case SYS_renameat2:
    case SYS_link:
    case SYS_linkat:
    case SYS_mkdir:
    case SYS_mkdirat:
    case SYS_creat:
        return true;
    case SYS_open:
        return (r->rsi & O_CREAT) != 0;
    case SYS_openat:
        return (r->rdx & O_CREAT) != 0;
    default:
        return false;
    }
}

struct plan {
    unsigned long first, seen;
    int error;
    bool on;
};

/* On the way in a failing call's number is made one that does not exist; on the way out its result
 * is the error. */
static void at_call(struct thread *thread, struct plan *plan) {
    struct user_regs_struct r;
    if (ptrace(PTRACE_GETREGS, thread->id, NULL, &r) != 0) return;
    if (!thread->inside && changes_files(thread->id, &r)) {
        plan->seen++;
        thread->failing =
            plan->seen == plan->first || (plan->on && plan->first > 0 && plan->seen > plan->first);
        if (thread->failing) r.orig_rax = (unsigned long long)-1;
    } else if (thread->inside && thread->failing) {
        r.rax = (unsigned long long)-plan->error;
    }
    if (thread->failing) ptrace(PTRACE_SETREGS, thread->id, NULL, &r);
    if (thread->inside) thread->failing = false;
    thread->inside = !thread->inside;
}

static int follow(pid_t command, struct plan *plan) {
    int result = NOT_RUN, state;
    for (pid_t id; (id = waitpid(-1, &state, __WALL)) > 0;) {
        struct thread *thread = thread_of(id);
        if (WIFEXITED(state) || WIFSIGNALED(state)) {
            if (id == command)
                result = WIFEXITED(state) ? WEXITSTATUS(state) : SIGNALLED + WTERMSIG(state);
            *thread = (struct thread){0};
            continue;
        }
        int number = WSTOPSIG(state);
        if (number == AT_CALL) at_call(thread, plan);
        bool own = number == AT_CALL || number == SIGTRAP || number == SIGSTOP;
        ptrace(PTRACE_SYSCALL, id, NULL, (void *)(long)(own ? 0 : number));
    }
    if (plan->first == 0) fprintf(stderr, "%lu\n", plan->seen);
    return plan->seen < plan->first ? TOO_FEW : result;
}

static int run(char **command, struct plan *plan) {
    pid_t id = fork();
    if (id == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) _exit(SKIPPED);
        raise(SIGSTOP);
        execvp(command[0], command);
        _exit(NOT_RUN);
    }
    int state;
    if (id < 0 || waitpid(id, &state, 0) != id) return NOT_RUN;
    if (WIFEXITED(state)) return WEXITSTATUS(state);
    long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
                   PTRACE_O_TRACEVFORK | PTRACE_O_EXITKILL;
    if (ptrace(PTRACE_SETOPTIONS, id, NULL, (void *)options) != 0) return SKIPPED;
    ptrace(PTRACE_SYSCALL, id, NULL, NULL);
    return follow(id, plan);
}

int main(int count, char **arguments) {
    if (count < 5) {
        fputs("usage: fail_call N ERRNO once|on COMMAND...\n", stderr);
        return 2;
    }
    struct plan plan = {.first = strtoul(arguments[1], NULL, 10),
                        .error = (int)strtol(arguments[2], NULL, 10),
                        .on = strcmp(arguments[3], "on") == 0};
    return run(arguments + 4, &plan);
}
#else
int main(void) {
    return SKIPPED;
}
#endif
