/*
 * Value generators: one vocabulary for filling tables and for drawing parameters.
 *
 * A generator is immutable once made and may be shared by threads: what varies comes
 * in with each draw (the random stream and an ordinal). generator_kinds() is the one
 * place that knows the kinds, their parameters, defaults and limits; the binding and
 * Python's help read it. How each kind draws is in generator_number.c, generator_text.c
 * and generator_compound.c.
 */
#ifndef BENCHKIT_GENERATOR_H
#define BENCHKIT_GENERATOR_H

#include "permutation.h"
#include "rng.h"
#include "value.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

enum { GENERATOR_PARAMETERS_MAX = 8 };

enum parameter_type {
    PARAMETER_INTEGER,
    PARAMETER_REAL,
    PARAMETER_FLAG, /* an integer, 0 or 1 */
    PARAMETER_TEXT,
    PARAMETER_TEXTS,     /* one or more texts */
    PARAMETER_INTEGERS,  /* one or more integers, each within the limits */
    PARAMETER_GENERATORS /* one or more generators */
};

struct generator_parameter {
    const char *name; /* NULL ends the list */
    enum parameter_type type;
    bool required;
    double fallback; /* the value where it is not given */
    double lowest;   /* limits for integers and reals */
    double highest;
};

struct generator;
struct generator_argument;

/* Write the next value to `out`, whose type is the generator's `result` and whose text
 * capacity is at least its `capacity`. Never fails. */
typedef void generator_draw_function(const struct generator *generator, struct rng *rng,
                                     uint64_t ordinal, struct value *out);

/* How an ordinal is made when a worker draws. */
enum ordinal_rule {
    ORDINAL_NONE,       /* the generator does not look at it */
    ORDINAL_PER_WORKER, /* 0, 1, 2, ... in each worker */
    ORDINAL_SHARED      /* worker w of n: w, w + n, w + 2n, ... */
};

struct generator_kind {
    const char *name; /* NULL ends the table */
    const char *summary;
    enum value_type result;
    enum ordinal_rule ordinal;
    bool ranged; /* the first two parameters are low and high: all that is drawn lies
                    between them */
    struct generator_parameter parameters[GENERATOR_PARAMETERS_MAX];
    generator_draw_function *draw;
    /* Take over the arguments (one for each parameter, within its limits). */
    int (*take)(struct generator *generator, const struct generator_argument *arguments,
                struct error *error);
    /* Work out what depends on low..high; NULL if nothing does. */
    void (*settle)(struct generator *generator);
};

/* An argument for the parameter at the same place in the kind's list. */
struct generator_argument {
    bool given;
    int64_t integer;          /* PARAMETER_INTEGER, PARAMETER_FLAG */
    double real;              /* PARAMETER_REAL */
    const char *const *texts; /* PARAMETER_TEXT: one; borrowed for the call */
    const size_t *text_lengths;
    size_t text_count;
    const int64_t *integers; /* PARAMETER_INTEGERS; borrowed likewise */
    size_t integer_count;
    const struct generator *generators; /* PARAMETER_GENERATORS; borrowed likewise */
    size_t generator_count;
};

struct generator {
    generator_draw_function *draw; /* by generator_draw() */
    enum value_type result;
    enum ordinal_rule ordinal;
    bool bounded;     /* integers within low..high */
    bool nullable;    /* may draw NULL */
    bool partitioned; /* each worker draws from its own part of the range */
    int64_t low;      /* of what is drawn */
    int64_t high;
    size_t capacity; /* longest text in bytes */
    const struct generator_kind *kind;
    /* The rest is private to generator*.c: arguments, and constants worked out once. */
    uint64_t seed;
    uint64_t size; /* of low..high */
    union {
        int64_t integer;
        double real;
        struct {
            int64_t start;
            int64_t step;
            uint64_t every; /* draws that get the same value */
            uint64_t cycle; /* values until it starts again; 0: never */
        } sequence;
        struct {
            int64_t rounds;
            double hot_chance;
            uint64_t hot_percent;
            uint64_t hot_skip;
            uint64_t hot_first; /* of the hot band, counted from low */
            uint64_t hot_size;
        } bell;       /* gaussian and special */
        double power; /* pareto */
        struct {
            double mean;
            double most; /* of what is drawn */
            bool whole;
        } exponential;
        struct {
            double exponent;
            bool scrambled;
            double area_first; /* where the hat's integral starts and ends */
            double area_last;
            double shortcut; /* accept without a look where rank - x is below it */
        } zipfian;
        struct {
            uint64_t a;
            uint64_t c;
            bool in_order; /* last_name: no draw, but number after number */
        } nurand;
        struct {
            uint64_t shortest;
            uint64_t longest;
        } lengths;
        struct {
            uint64_t unit; /* 10 ^ places */
            int places;
        } decimal;
        struct {
            size_t width;
            bool left;
        } digits;
        bool reshuffled; /* permutation */
        uint64_t cut;    /* splice: bytes that the word replaces */
        uint64_t key;    /* shared */
    } of;
    struct permutation permutation; /* permutation and scrambled zipfian */
    char *text;                     /* owned; all texts in a row */
    size_t *text_offsets;           /* owned; text_count + 1 of them */
    size_t text_count;
    struct generator *inner; /* owned; the generators it is made of */
    size_t inner_count;
    uint64_t *ends; /* owned; for each of them, the sum of its and the former weights */
};

/* The table of kinds, ended by a NULL name. */
const struct generator_kind *generator_kinds(void);

/* The kind called `name`, or NULL. */
const struct generator_kind *generator_kind_find(const char *name);

/* Make a generator; `seed` keys the permutations. ERROR_INVALID names the kind, the
 * parameter and the limit that was broken. */
int generator_init(struct generator *generator, const struct generator_kind *kind,
                   const struct generator_argument *arguments, uint64_t seed,
                   struct error *error);

/* A generator of its own that draws what `from` does; ERROR_SYSTEM without memory. */
int generator_copy(struct generator *copy, const struct generator *from,
                   struct error *error);

/* The generator that worker `worker` of `workers` uses: the same, or for a partitioned
 * one its own part of the range. low' = low - 1 + floor(n * worker / workers) with
 * n = high - low + 1, high' = low' + floor(n / workers), as sysbench cuts its tables
 * (so the first part starts one below low). */
int generator_init_worker(struct generator *generator, const struct generator *whole,
                          uint32_t worker, uint32_t workers, struct error *error);

/* Free what the generator owns; fine on a zeroed struct. */
void generator_fini(struct generator *generator);

/* Draw the next value into `out`, made by value_init() with the generator's result and
 * capacity. `ordinal` counts rows or draws from 0, see enum ordinal_rule. */
static inline void generator_draw(const struct generator *generator, struct rng *rng,
                                  uint64_t ordinal, struct value *out)
{
    out->is_null = 0;
    generator->draw(generator, rng, ordinal, out);
}

#endif
