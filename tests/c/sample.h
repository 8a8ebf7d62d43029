/*
 * Small programs for the tests, built by the same calls that the binding uses.
 */
#ifndef BENCHKIT_SAMPLE_H
#define BENCHKIT_SAMPLE_H

#include "generator.h"

struct error;
struct program;

/* A generator of uniform integers in low..high; the test fails if there is none. */
struct generator sample_uniform(int64_t low, int64_t high);

/* Build a program from the steps that `build` adds, in one transaction called "main";
 * with `build` NULL it does nothing. NULL with `error` filled. */
struct program *sample_program(int (*build)(struct program *program,
                                            struct error *error),
                               struct error *error);

/* One step without parameters, counted under the name `name`. */
int sample_execute(struct program *program, const char *name, const char *sql,
                   struct error *error);

#endif
