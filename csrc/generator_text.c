/*
 * The kinds of generators that draw texts.
 *
 * Digits and letters come in batches: one bounded 64-bit draw is as many of them as fit
 * without bias (18 digits, 13 letters, 10 of both).
 */

#include "generator_kind.h"

#include "error.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TIMESTAMP_BYTES = sizeof "YYYY-MM-DD HH:MM:SS" - 1 };

struct alphabet {
    const char *symbols;
    uint64_t base;  /* number of symbols */
    int batch;      /* symbols in one draw */
    uint64_t bound; /* base ^ batch */
};

static const struct alphabet digits = {"0123456789", 10, 18,
                                       UINT64_C(1000000000000000000)};
static const struct alphabet letters = {"abcdefghijklmnopqrstuvwxyz", 26, 13,
                                        UINT64_C(2481152873203736576)};
static const struct alphabet letters_and_digits = {
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", 62, 10,
    UINT64_C(839299365868340224)};

/* What is left of the last draw from an alphabet. */
struct batch {
    uint64_t number;
    int left;
};

/* Inline, so that the division is by a constant. */
static inline char next_symbol(struct batch *batch, const struct alphabet *alphabet,
                               struct rng *rng)
{
    char symbol;

    if (!batch->left) {
        batch->number = rng_below(rng, alphabet->bound);
        batch->left = alphabet->batch;
    }
    symbol = alphabet->symbols[batch->number % alphabet->base];
    batch->number /= alphabet->base;
    batch->left--;
    return symbol;
}

int generator_keep_texts(struct generator *generator,
                         const struct generator_argument *argument, struct error *error)
{
    size_t bytes = 0;

    for (size_t i = 0; i < argument->text_count; i++)
        bytes += argument->text_lengths[i];
    generator->text = malloc(bytes + 1);
    generator->text_offsets =
        calloc(argument->text_count + 1, sizeof *generator->text_offsets);
    if (!generator->text || !generator->text_offsets)
        return error_set_memory(error);
    for (size_t i = 0, at = 0; i < argument->text_count; i++) {
        memcpy(generator->text + at, argument->texts[i], argument->text_lengths[i]);
        at += argument->text_lengths[i];
        generator->text_offsets[i + 1] = at;
        if (argument->text_lengths[i] > generator->capacity)
            generator->capacity = argument->text_lengths[i];
    }
    generator->text_count = argument->text_count;
    return 0;
}

int texts_take(struct generator *generator, const struct generator_argument *arguments,
               struct error *error)
{
    return generator_keep_texts(generator, &arguments[0], error);
}

static void put_text(const struct generator *generator, size_t which, struct value *out)
{
    size_t start = generator->text_offsets[which];

    out->length = (unsigned long)(generator->text_offsets[which + 1] - start);
    memcpy(out->text, generator->text + start, out->length);
}

void text_draw(const struct generator *generator, struct rng *rng, uint64_t ordinal,
               struct value *out)
{
    (void)rng;
    (void)ordinal;
    put_text(generator, 0, out);
}

void choice_draw(const struct generator *generator, struct rng *rng, uint64_t ordinal,
                 struct value *out)
{
    (void)ordinal;
    put_text(generator, rng_below(rng, generator->text_count), out);
}

void template_draw(const struct generator *generator, struct rng *rng, uint64_t ordinal,
                   struct value *out)
{
    struct batch digit_batch = {0, 0};
    struct batch letter_batch = {0, 0};
    struct rng stream = *rng; /* a copy the compiler may keep in registers */
    size_t length = generator->text_offsets[1];

    (void)ordinal;
    for (size_t i = 0; i < length; i++) {
        char symbol = generator->text[i];
        if (symbol == '#')
            symbol = next_symbol(&digit_batch, &digits, &stream);
        else if (symbol == '@')
            symbol = next_symbol(&letter_batch, &letters, &stream);
        out->text[i] = symbol;
    }
    out->length = (unsigned long)length;
    *rng = stream;
}

int alphanumeric_take(struct generator *generator,
                      const struct generator_argument *arguments, struct error *error)
{
    if (arguments[0].integer > arguments[1].integer)
        return error_set(error, ERROR_INVALID,
                         "generator alphanumeric: shortest %lld is above longest %lld",
                         (long long)arguments[0].integer,
                         (long long)arguments[1].integer);
    generator->of.lengths.shortest = (uint64_t)arguments[0].integer;
    generator->of.lengths.longest = (uint64_t)arguments[1].integer;
    generator->capacity = generator->of.lengths.longest;
    return 0;
}

void alphanumeric_draw(const struct generator *generator, struct rng *rng,
                       uint64_t ordinal, struct value *out)
{
    uint64_t shortest = generator->of.lengths.shortest;
    uint64_t length =
        shortest + rng_below(rng, generator->of.lengths.longest - shortest + 1);
    struct batch batch = {0, 0};

    (void)ordinal;
    for (uint64_t i = 0; i < length; i++)
        out->text[i] = next_symbol(&batch, &letters_and_digits, rng);
    out->length = (unsigned long)length;
}

/* TPC-C 4.3.2.3: the syllable of each digit. */
static const char *const syllables[] = {"BAR", "OUGHT", "ABLE",  "PRI",   "PRES",
                                        "ESE", "ANTI",  "CALLY", "ATION", "EING"};

enum { LAST_NAME_BYTES = 3 * (sizeof "CALLY" - 1) };

int last_name_take(struct generator *generator,
                   const struct generator_argument *arguments, struct error *error)
{
    generator->capacity = LAST_NAME_BYTES;
    generator->of.nurand.in_order = arguments[4].integer != 0;
    if (generator->of.nurand.in_order)
        generator->ordinal = ORDINAL_PER_WORKER;
    return nurand_take(generator, arguments, error);
}

void last_name_draw(const struct generator *generator, struct rng *rng,
                    uint64_t ordinal, struct value *out)
{
    uint64_t number = generator->of.nurand.in_order
                          ? (uint64_t)generator->low + ordinal % generator->size
                          : nurand_number(generator, rng);
    const char *parts[] = {syllables[number / 100], syllables[number / 10 % 10],
                           syllables[number % 10]};
    size_t length = 0;

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        size_t bytes = strlen(parts[i]);
        memcpy(out->text + length, parts[i], bytes);
        length += bytes;
    }
    out->length = (unsigned long)length;
}

/* Write `time_s` as YYYY-MM-DD HH:MM:SS and a terminator; years 1970 to 9999. */
static void format_time(time_t time_s, char *text)
{
    struct tm parts;

    gmtime_r(&time_s, &parts);
    strftime(text, TIMESTAMP_BYTES + 1, "%Y-%m-%d %H:%M:%S", &parts);
}

int timestamp_take(struct generator *generator,
                   const struct generator_argument *arguments, struct error *error)
{
    char text[TIMESTAMP_BYTES + 1];
    const char *texts[] = {text};
    const size_t lengths[] = {TIMESTAMP_BYTES};
    struct generator_argument fixed = {
        .texts = texts, .text_lengths = lengths, .text_count = 1};

    generator->capacity = TIMESTAMP_BYTES;
    if (arguments[0].integer < 0)
        return 0;
    format_time((time_t)arguments[0].integer, text);
    generator->draw = text_draw;
    return generator_keep_texts(generator, &fixed, error);
}

void now_draw(const struct generator *generator, struct rng *rng, uint64_t ordinal,
              struct value *out)
{
    char text[TIMESTAMP_BYTES + 1];

    (void)generator;
    (void)rng;
    (void)ordinal;
    format_time(time(NULL), text);
    memcpy(out->text, text, TIMESTAMP_BYTES);
    out->length = TIMESTAMP_BYTES;
}

enum { DECIMAL_BYTES = 22 }; /* a sign, 20 digits, a point */

int decimal_take(struct generator *generator,
                 const struct generator_argument *arguments, struct error *error)
{
    (void)error;
    generator->of.decimal.places = (int)arguments[2].integer;
    generator->of.decimal.unit = 1;
    for (int i = 0; i < generator->of.decimal.places; i++)
        generator->of.decimal.unit *= 10;
    generator->capacity = DECIMAL_BYTES;
    return 0;
}

/* Write a number in decimal so that it ends before `end`, with at least `least` digits;
 * return where it starts. */
static char *write_digits(char *end, uint64_t number, int least)
{
    for (int i = 0; number || i < least; i++) {
        *--end = (char)('0' + number % 10);
        number /= 10;
    }
    return end;
}

void decimal_draw(const struct generator *generator, struct rng *rng, uint64_t ordinal,
                  struct value *out)
{
    uint64_t drawn = (uint64_t)generator->low + rng_below(rng, generator->size);
    bool negative = (int64_t)drawn < 0;
    uint64_t number = negative ? 0 - drawn : drawn;
    char text[DECIMAL_BYTES];
    char *end = text + sizeof text;
    char *start = end;

    (void)ordinal;
    if (generator->of.decimal.places) {
        start = write_digits(start, number % generator->of.decimal.unit,
                             generator->of.decimal.places);
        *--start = '.';
    }
    start = write_digits(start, number / generator->of.decimal.unit, 1);
    if (negative)
        *--start = '-';
    out->length = (unsigned long)(end - start);
    memcpy(out->text, start, out->length);
}

enum { DIGITS_MAX = 20 };

int digits_take(struct generator *generator, const struct generator_argument *arguments,
                struct error *error)
{
    (void)error;
    generator->of.digits.width = (size_t)arguments[2].integer;
    generator->of.digits.left = arguments[3].integer != 0;
    generator->capacity = DIGITS_MAX;
    return 0;
}

void digits_draw(const struct generator *generator, struct rng *rng, uint64_t ordinal,
                 struct value *out)
{
    uint64_t number = (uint64_t)generator->low + rng_below(rng, generator->size);
    size_t width = generator->of.digits.width;
    char text[DIGITS_MAX];
    const char *start = write_digits(text + sizeof text, number, 1);
    size_t length = (size_t)(text + sizeof text - start);
    size_t zeros = length < width ? width - length : 0;

    (void)ordinal;
    memset(out->text, '0', length + zeros);
    memcpy(out->text + (generator->of.digits.left ? 0 : zeros), start, length);
    out->length = (unsigned long)(length + zeros);
}
