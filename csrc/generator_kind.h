/*
 * How each kind of generator takes its arguments and draws. Only generator.c, which
 * puts them into its table of kinds, and the files that define them include this.
 */
#ifndef BENCHKIT_GENERATOR_KIND_H
#define BENCHKIT_GENERATOR_KIND_H

#include "generator.h"

typedef int generator_take_function(struct generator *generator,
                                    const struct generator_argument *arguments,
                                    struct error *error);
typedef void generator_settle_function(struct generator *generator);

/* generator_number.c */
generator_take_function integer_take, real_take, null_take, sequence_take,
    gaussian_take, special_take, pareto_take, exponential_take, zipfian_take,
    nurand_take, permutation_take;
generator_settle_function special_settle, zipfian_settle, permutation_settle;
generator_draw_function integer_draw, real_draw, null_draw, sequence_draw, uniform_draw,
    remaining_draw, gaussian_draw, special_draw, pareto_draw, exponential_draw,
    zipfian_draw, nurand_draw, permutation_draw;

/* generator_text.c */
generator_take_function texts_take, last_name_take, alphanumeric_take, timestamp_take,
    decimal_take, digits_take;
generator_draw_function text_draw, template_draw, choice_draw, last_name_draw,
    alphanumeric_draw, now_draw, decimal_draw, digits_draw;

/* generator_compound.c */
generator_take_function blocks_take, mix_take, joined_take, splice_take, shared_take;
generator_draw_function blocks_draw, mix_draw, joined_draw, splice_draw, shared_draw;

/* What nurand and last_name share: a number of low..high. */
uint64_t nurand_number(const struct generator *generator, struct rng *rng);

/* Keep a copy of the texts of `argument`; ERROR_SYSTEM without memory. */
int generator_keep_texts(struct generator *generator,
                         const struct generator_argument *argument,
                         struct error *error);

#endif
