/*
 * An error value: what went wrong, for whom, in words a user can act on.
 *
 * Functions that may fail take `struct error *` last and return 0 or -1; they
 * fill the error only on failure. The struct owns nothing.
 */
#ifndef BENCHKIT_ERROR_H
#define BENCHKIT_ERROR_H

/* Who can act on the error; the binding maps each kind to one exception. */
enum error_kind {
    ERROR_NONE,
    ERROR_INVALID,  /* the caller's description is wrong: workload, option, range */
    ERROR_DATABASE, /* the server or the connection to it said no; see number */
    ERROR_SYSTEM,   /* the operating system said no: threads, memory, files */
    ERROR_INTERNAL  /* an invariant of ours does not hold; a bug */
};

struct error {
    enum error_kind kind;
    unsigned int number; /* MariaDB/MySQL error number for ERROR_DATABASE, else 0 */
    char sqlstate[6];    /* five characters for ERROR_DATABASE, else "" */
    char message[512];   /* always terminated; cut where too long */
};

/* Fill `error` (kind, printf-style message) and return -1, so that a caller can
 * write `return error_set(error, ERROR_INVALID, "...")`. */
int error_set(struct error *error, enum error_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same for a database error with its number and SQLSTATE. */
int error_set_database(struct error *error, unsigned int number, const char *sqlstate,
                       const char *message);

/* "out of memory" as ERROR_SYSTEM; returns -1. */
int error_set_memory(struct error *error);

#endif
