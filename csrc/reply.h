/*
 * What a statement did.
 */
#ifndef BENCHKIT_REPLY_H
#define BENCHKIT_REPLY_H

#include <stdbool.h>
#include <stdint.h>

/* Receiving returns this where it does not wait: the rest has not come yet. */
enum { REPLY_INCOMPLETE = 1 };

struct reply {
    uint64_t affected_rows; /* 0 where there was a result set */
    bool has_result;        /* a result set came, even an empty one */
    bool found;             /* a row came (where it was looked for), or was affected */
};

#endif
