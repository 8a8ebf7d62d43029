/*
 * What GSL needs once per process.
 */
#ifndef BENCHKIT_STATS_INIT_H
#define BENCHKIT_STATS_INIT_H

/* Turn off GSL's error handler, which would end the process. To be called before any
 * other function of stats_*.h, which state what they return instead. */
void stats_init(void);

#endif
