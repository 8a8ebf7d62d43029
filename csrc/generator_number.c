/*
 * The kinds of generators that draw integers and reals.
 *
 * A draw from a range is made as an offset from low, 0..size-1. gaussian, special,
 * pareto and zipfian follow sysbench, so that hot rows are as hot as there.
 */
#include "generator_kind.h"

#include <math.h>

static void put(const struct generator *generator, uint64_t offset, struct value *out)
{
    out->integer = (int64_t)((uint64_t)generator->low + offset);
}

/* A share of the range as an offset; rounding may take a share below 1 to its end. */
static uint64_t offset_of(const struct generator *generator, double share)
{
    uint64_t offset = (uint64_t)(share * (double)generator->size);

    return offset < generator->size ? offset : generator->size - 1;
}

int integer_take(struct generator *generator,
                 const struct generator_argument *arguments, struct error *error)
{
    (void)error;
    generator->of.integer = arguments[0].integer;
    generator->bounded = true;
    generator->low = generator->high = arguments[0].integer;
    return 0;
}

void integer_draw(const struct generator *generator, struct rng *rng, uint64_t ordinal,
                  struct value *out)
{
    (void)rng;
    (void)ordinal;
    out->integer = generator->of.integer;
}

int real_take(struct generator *generator, const struct generator_argument *arguments,
              struct error *error)
{
    (void)error;
    generator->of.real = arguments[0].real;
    return 0;
}

void real_draw(const struct generator *generator, struct rng *rng, uint64_t ordinal,
               struct value *out)
{
    (void)rng;
    (void)ordinal;
    out->real = generator->of.real;
}

int null_take(struct generator *generator, const struct generator_argument *arguments,
              struct error *error)
{
    (void)arguments;
    (void)error;
    generator->nullable = true;
    return 0;
}

void null_draw(const struct generator *generator, struct rng *rng, uint64_t ordinal,
               struct value *out)
{
    (void)generator;
    (void)rng;
    (void)ordinal;
    out->is_null = 1;
}

int sequence_take(struct generator *generator,
                  const struct generator_argument *arguments, struct error *error)
{
    (void)error;
    generator->of.sequence.start = arguments[0].integer;
    generator->of.sequence.step = arguments[1].integer;
    generator->of.sequence.every = (uint64_t)arguments[2].integer;
    generator->of.sequence.cycle = (uint64_t)arguments[3].integer;
    return 0;
}

void sequence_draw(const struct generator *generator, struct rng *rng, uint64_t ordinal,
                   struct value *out)
{
    uint64_t start = (uint64_t)generator->of.sequence.start;
    uint64_t step = (uint64_t)generator->of.sequence.step;

    (void)rng;
    if (generator->of.sequence.every > 1)
        ordinal /= generator->of.sequence.every;
    if (generator->of.sequence.cycle)
        ordinal %= generator->of.sequence.cycle;
    out->integer = (int64_t)(start + ordinal * step);
}

void uniform_draw(const struct generator *generator, struct rng *rng, uint64_t ordinal,
                  struct value *out)
{
    (void)ordinal;
    put(generator, rng_below(rng, generator->size), out);
}

void remaining_draw(const struct generator *generator, struct rng *rng,
                    uint64_t ordinal, struct value *out)
{
    uint64_t place = ordinal % generator->size;

    put(generator, place + rng_below(rng, generator->size - place), out);
}

int gaussian_take(struct generator *generator,
                  const struct generator_argument *arguments, struct error *error)
{
    (void)error;
    generator->of.bell.rounds = arguments[2].integer;
    return 0;
}

void gaussian_draw(const struct generator *generator, struct rng *rng, uint64_t ordinal,
                   struct value *out)
{
    double sum = 0;

    (void)ordinal;
    for (int64_t i = 0; i < generator->of.bell.rounds; i++)
        sum += rng_uniform(rng);
    put(generator, offset_of(generator, sum / (double)generator->of.bell.rounds), out);
}

int special_take(struct generator *generator,
                 const struct generator_argument *arguments, struct error *error)
{
    (void)error;
    generator->of.bell.hot_percent = (uint64_t)arguments[2].integer;
    generator->of.bell.hot_chance = (double)arguments[3].integer / 100;
    generator->of.bell.rounds = arguments[4].integer;
    generator->of.bell.hot_skip = (uint64_t)arguments[6].integer;
    return 0;
}

/* floor(number * parts / whole) for parts <= whole, without overflow. */
static uint64_t share_of(uint64_t number, uint64_t parts, uint64_t whole)
{
    return number / whole * parts + number % whole * parts / whole;
}

void special_settle(struct generator *generator)
{
    uint64_t size = generator->size;
    uint64_t percent = generator->of.bell.hot_percent;
    uint64_t band = share_of(size, percent, 100);
    uint64_t skipped = share_of(band, generator->of.bell.hot_skip, 100);

    generator->of.bell.hot_first = size / 2 - share_of(size, percent, 200) + skipped;
    generator->of.bell.hot_size = band > skipped ? band - skipped : 1;
}

void special_draw(const struct generator *generator, struct rng *rng, uint64_t ordinal,
                  struct value *out)
{
    if (rng_uniform(rng) < generator->of.bell.hot_chance)
        put(generator,
            generator->of.bell.hot_first + rng_below(rng, generator->of.bell.hot_size),
            out);
    else
        gaussian_draw(generator, rng, ordinal, out);
}

int pareto_take(struct generator *generator, const struct generator_argument *arguments,
                struct error *error)
{
    double h = arguments[2].real;

    (void)error;
    generator->of.power = log(h) / log(1 - h);
    return 0;
}

void pareto_draw(const struct generator *generator, struct rng *rng, uint64_t ordinal,
                 struct value *out)
{
    (void)ordinal;
    put(generator, offset_of(generator, pow(rng_uniform(rng), generator->of.power)),
        out);
}

int exponential_take(struct generator *generator,
                     const struct generator_argument *arguments, struct error *error)
{
    (void)error;
    generator->of.exponential.mean = arguments[0].real;
    generator->of.exponential.most = arguments[0].real * arguments[1].real;
    generator->of.exponential.whole = arguments[2].integer;
    return 0;
}

void exponential_draw(const struct generator *generator, struct rng *rng,
                      uint64_t ordinal, struct value *out)
{
    double drawn = -log1p(-rng_uniform(rng)) * generator->of.exponential.mean;

    (void)ordinal;
    if (drawn > generator->of.exponential.most)
        drawn = generator->of.exponential.most;
    out->real = generator->of.exponential.whole ? round(drawn) : drawn;
}

/* The integral of x^-exponent from 1 to x, and its inverse; expm1 and log1p keep both
 * exact near exponent 1. */
static double area(double x, double exponent)
{
    double m = 1 - exponent;

    return m == 0 ? log(x) : expm1(m * log(x)) / m;
}

static double area_inverse(double a, double exponent)
{
    double m = 1 - exponent;

    return m == 0 ? exp(a) : exp(log1p(fmax(a * m, -1)) / m);
}

int zipfian_take(struct generator *generator,
                 const struct generator_argument *arguments, struct error *error)
{
    (void)error;
    generator->of.zipfian.exponent = arguments[2].real;
    generator->of.zipfian.scrambled = arguments[3].integer != 0;
    return 0;
}

/* Rejection-inversion: Hoermann and Derflinger, ACM TOMACS 6(3), 1996, with the area
 * shifted so that exponent 1 is no special case. */
void zipfian_settle(struct generator *generator)
{
    /* Not the seed: the hot rows must be the same for all workers and runs. */
    static const uint64_t scramble_key = UINT64_C(0x7A697066);
    double exponent = generator->of.zipfian.exponent;

    generator->of.zipfian.area_first = area(1.5, exponent) - 1;
    generator->of.zipfian.area_last = area((double)generator->size + 0.5, exponent);
    generator->of.zipfian.shortcut =
        2 - area_inverse(area(2.5, exponent) - pow(2, -exponent), exponent);
    permutation_init(&generator->permutation, generator->size, scramble_key);
}

/* A rank from 1 to size. */
static uint64_t zipfian_rank(const struct generator *generator, struct rng *rng)
{
    double exponent = generator->of.zipfian.exponent;
    double first = generator->of.zipfian.area_first;
    double last = generator->of.zipfian.area_last;

    for (;;) {
        double a = last + rng_uniform(rng) * (first - last);
        double x = fmin(area_inverse(a, exponent), (double)generator->size);
        double rank = fmax(floor(x + 0.5), 1);
        if (rank - x <= generator->of.zipfian.shortcut ||
            a >= area(rank + 0.5, exponent) - pow(rank, -exponent))
            return (uint64_t)rank;
    }
}

void zipfian_draw(const struct generator *generator, struct rng *rng, uint64_t ordinal,
                  struct value *out)
{
    uint64_t offset = zipfian_rank(generator, rng) - 1;

    (void)ordinal;
    if (offset >= generator->size) /* a range too wide for a double's 53 bits */
        offset = generator->size - 1;
    if (generator->of.zipfian.scrambled)
        offset = permutation_at(&generator->permutation, offset);
    put(generator, offset, out);
}

int nurand_take(struct generator *generator, const struct generator_argument *arguments,
                struct error *error)
{
    (void)error;
    generator->of.nurand.a = (uint64_t)arguments[2].integer;
    generator->of.nurand.c = (uint64_t)arguments[3].integer;
    return 0;
}

uint64_t nurand_number(const struct generator *generator, struct rng *rng)
{
    uint64_t low = (uint64_t)generator->low;
    uint64_t mask = rng_below(rng, generator->of.nurand.a + 1);
    uint64_t number = low + rng_below(rng, generator->size);

    return ((mask | number) + generator->of.nurand.c) % generator->size + low;
}

void nurand_draw(const struct generator *generator, struct rng *rng, uint64_t ordinal,
                 struct value *out)
{
    (void)ordinal;
    out->integer = (int64_t)nurand_number(generator, rng);
}

int permutation_take(struct generator *generator,
                     const struct generator_argument *arguments, struct error *error)
{
    (void)error;
    generator->of.reshuffled = arguments[2].integer != 0;
    return 0;
}

void permutation_settle(struct generator *generator)
{
    permutation_init(&generator->permutation, generator->size, generator->seed);
}

/* The permutation of a round: made anew for each draw, so that it needs no state. */
static struct permutation shuffle_of(const struct generator *generator, uint64_t round)
{
    const uint64_t words[] = {generator->seed, round};
    struct permutation permutation;
    struct rng rng;

    rng_seed(&rng, words, sizeof words / sizeof *words);
    permutation_init(&permutation, generator->size, rng_next(&rng));
    return permutation;
}

void permutation_draw(const struct generator *generator, struct rng *rng,
                      uint64_t ordinal, struct value *out)
{
    uint64_t place = ordinal % generator->size;

    (void)rng;
    if (generator->of.reshuffled) {
        struct permutation shuffle = shuffle_of(generator, ordinal / generator->size);
        put(generator, permutation_at(&shuffle, place), out);
    } else {
        put(generator, permutation_at(&generator->permutation, place), out);
    }
}
