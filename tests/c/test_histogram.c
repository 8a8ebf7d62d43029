/*
 * Buckets, percentiles, merging, differences and the wire format; a reader beside the
 * writer; no allocation while recording.
 */
#include "histogram.h"

#include "error.h"
#include "rng.h"

#include "allocations.h"
#include "check.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const int64_t highest_ns = INT64_C(120000000000);

static struct histogram make(int digits)
{
    struct histogram histogram;
    struct error error;

    CHECK(!histogram_init(&histogram, highest_ns, digits, &error));
    return histogram;
}

static int64_t percentile(const struct histogram *histogram, double at)
{
    struct error error;
    int64_t value = -1;

    CHECK(!histogram_percentile(histogram, at, &value, &error));
    return value;
}

/* A value of any magnitude up to `bits` bits. */
static int64_t any_value(struct rng *rng, int bits)
{
    return (int64_t)(rng_next(rng) >> (64 - 1 - rng_below(rng, (uint64_t)bits)));
}

static void buckets_cover_all_values(void)
{
    for (int digits = 1; digits <= HISTOGRAM_DIGITS_MAX; digits++) {
        struct histogram histogram = make(digits);
        int64_t next = 0;
        for (uint32_t i = 0; i < histogram.count_size; i++) {
            int64_t width = histogram_width(&histogram, i);
            CHECK(histogram_lowest(&histogram, i) == next);
            CHECK(histogram_index(&histogram, next) == i);
            CHECK(histogram_index(&histogram, next + width - 1) == i);
            next += width;
        }
        CHECK(next > highest_ns);
        histogram_fini(&histogram);
    }
}

static void buckets_are_narrow(void)
{
    static const int64_t scales[] = {0, 10, 100, 1000, 10000};

    for (int digits = 1; digits <= HISTOGRAM_DIGITS_MAX; digits++) {
        struct histogram histogram = make(digits);
        for (uint32_t i = 1; i < histogram.count_size; i++) {
            int64_t width = histogram_width(&histogram, i);
            CHECK(width == 1 ||
                  width * scales[digits] <= histogram_lowest(&histogram, i));
        }
        histogram_fini(&histogram);
    }
}

static void bad_layouts_are_refused(void)
{
    struct histogram histogram;
    struct error error;

    CHECK(histogram_init(&histogram, 1, 3, &error) && error.kind == ERROR_INVALID);
    CHECK(histogram_init(&histogram, 100, 0, &error) && error.kind == ERROR_INVALID);
    CHECK(histogram_init(&histogram, 100, 5, &error) && error.kind == ERROR_INVALID);
    allocations_fail(1);
    CHECK(histogram_init(&histogram, 100, 3, &error) && error.kind == ERROR_SYSTEM);
}

static void highest_may_be_any_integer(void)
{
    struct histogram histogram;
    struct error error;

    CHECK(!histogram_init(&histogram, INT64_MAX, 2, &error));
    histogram_record(&histogram, INT64_MAX);
    histogram_record(&histogram, INT64_MAX);
    CHECK(histogram.overflow == 0 && histogram.sum == INT64_MAX);
    CHECK(percentile(&histogram, 0) >= INT64_MAX / 100 * 99);
    histogram_fini(&histogram);
    CHECK(!histogram_init(&histogram, 2, 1, &error));
    histogram_record(&histogram, 2);
    histogram_record(&histogram, 3);
    CHECK(histogram.overflow == 1);
    histogram_fini(&histogram);
}

static void extremes_are_exact(void)
{
    struct histogram histogram = make(3);

    histogram_record(&histogram, 1234567);
    histogram_record(&histogram, 7654321);
    CHECK(histogram.min == 1234567 && histogram.max == 7654321);
    CHECK(histogram.sum == 1234567 + 7654321);
    CHECK(percentile(&histogram, 0) >= 1234567);
    CHECK(percentile(&histogram, 100) <= 7654321);
    histogram_fini(&histogram);
}

static void negative_values_count_as_zero(void)
{
    struct histogram histogram = make(3);

    histogram_record(&histogram, -5);
    CHECK(histogram.total == 1 && histogram.min == 0 && histogram.sum == 0);
    CHECK(percentile(&histogram, 100) == 0);
    histogram_fini(&histogram);
}

static void too_high_values_are_kept_apart(void)
{
    struct histogram histogram = make(3);

    histogram_record(&histogram, 1000);
    histogram_record(&histogram, highest_ns + 1);
    CHECK(histogram.total == 2 && histogram.overflow == 1);
    CHECK(percentile(&histogram, 50) == 1000);
    CHECK(percentile(&histogram, 99) == highest_ns + 1);
    histogram_fini(&histogram);
}

static void percentiles_out_of_range_are_refused(void)
{
    struct histogram histogram = make(3);
    struct error error;
    int64_t value = -1;

    CHECK(histogram_percentile(&histogram, 50, &value, &error));
    histogram_record(&histogram, 1);
    CHECK(histogram_percentile(&histogram, -1, &value, &error));
    CHECK(histogram_percentile(&histogram, 100.5, &value, &error));
    CHECK(histogram_percentile(&histogram, strtod("nan", NULL), &value, &error));
    CHECK(value == -1);
    histogram_fini(&histogram);
}

static void rank_is_not_rounded_up(void)
{
    struct histogram histogram = make(3);

    for (int64_t i = 1; i <= 1000; i++)
        histogram_record(&histogram, i);
    CHECK(percentile(&histogram, 99.9) == 999);
    CHECK(percentile(&histogram, 50) == 500);
    CHECK(percentile(&histogram, 50.01) == 501);
    CHECK(percentile(&histogram, 0) == 1);
    histogram_fini(&histogram);
}

static void merged_equals_recorded_together(void)
{
    struct histogram parts[3] = {make(3), make(3), make(3)};
    struct histogram whole = make(3), merged = make(3);
    const uint64_t word = 1;
    struct error error;
    struct rng rng;

    rng_seed(&rng, &word, 1);
    for (int i = 0; i < 30000; i++) {
        int64_t value = any_value(&rng, 40);
        histogram_record(&whole, value);
        histogram_record(&parts[i % 3], value);
    }
    for (int i = 0; i < 3; i++) {
        CHECK(!histogram_merge(&merged, &parts[i], &error));
        histogram_fini(&parts[i]);
    }
    CHECK(histogram_equal(&merged, &whole));
    CHECK(merged.min == whole.min && merged.max == whole.max);
    CHECK(merged.sum == whole.sum && merged.total == whole.total);
    histogram_fini(&merged);
    histogram_fini(&whole);
}

static void other_layouts_do_not_merge(void)
{
    struct histogram one = make(3), other = make(2);
    struct error error;

    CHECK(histogram_merge(&one, &other, &error) && error.kind == ERROR_INVALID);
    CHECK(!histogram_equal(&one, &other));
    histogram_fini(&one);
    histogram_fini(&other);
}

static void empty_merges_without_effect(void)
{
    struct histogram one = make(3), empty = make(3);
    struct error error;

    CHECK(!histogram_merge(&one, &empty, &error));
    CHECK(one.total == 0 && one.min == INT64_MAX && one.max == 0);
    histogram_fini(&one);
    histogram_fini(&empty);
}

static void reset_forgets_everything(void)
{
    struct histogram used = make(3), empty = make(3);

    histogram_record(&used, 5);
    histogram_record(&used, INT64_MAX);
    histogram_reset(&used);
    CHECK(histogram_equal(&used, &empty));
    CHECK(used.total == 0 && used.sum == 0 && used.min == INT64_MAX && used.max == 0);
    histogram_fini(&used);
    histogram_fini(&empty);
}

static void differences_add_up(void)
{
    struct histogram now = make(3), seen = make(3), part = make(3), all = make(3);
    const uint64_t word = 2;
    struct error error;
    struct rng rng;

    rng_seed(&rng, &word, 1);
    for (int round = 0; round < 50; round++) {
        int64_t low = INT64_MAX, high = 0;
        uint64_t count = rng_below(&rng, 100);
        for (uint64_t i = 0; i < count; i++) {
            int64_t value = any_value(&rng, 36);
            low = value < low ? value : low;
            high = value > high ? value : high;
            histogram_record(&now, value);
        }
        histogram_difference(&now, &seen, &part);
        CHECK(part.total == count);
        CHECK(!count || (part.min <= low && part.min >= low - low / 1000 - 1));
        CHECK(!count || (part.max >= high && part.max <= high + high / 1000 + 1));
        CHECK(!histogram_merge(&all, &part, &error));
    }
    CHECK(histogram_equal(&all, &now));
    CHECK(all.sum == now.sum && all.total == now.total);
    CHECK(all.min == now.min && all.max == now.max);
    histogram_fini(&now);
    histogram_fini(&seen);
    histogram_fini(&part);
    histogram_fini(&all);
}

static void difference_of_nothing_is_empty(void)
{
    struct histogram now = make(3), seen = make(3), part = make(3);

    histogram_difference(&now, &seen, &part);
    CHECK(part.total == 0);
    histogram_record(&now, INT64_MAX);
    histogram_difference(&now, &seen, &part);
    CHECK(part.total == 1 && part.overflow == 1);
    CHECK(part.min == INT64_MAX && part.max == INT64_MAX);
    histogram_difference(&now, &seen, &part);
    CHECK(part.total == 0 && part.overflow == 0 && part.min == INT64_MAX);
    histogram_fini(&now);
    histogram_fini(&seen);
    histogram_fini(&part);
}

static void decoded_equals_encoded(void)
{
    struct histogram histogram = make(3), decoded = make(3);
    unsigned char *payload = malloc(histogram_encoded_limit(&histogram));
    const uint64_t word = 3;
    struct error error;
    struct rng rng;
    size_t length;

    CHECK(histogram_encode(&histogram, payload) == 0);
    rng_seed(&rng, &word, 1);
    for (int i = 0; i < 20000; i++)
        histogram_record(&histogram, any_value(&rng, 36));
    histogram_add(&histogram, 5, UINT64_C(1) << 62);
    length = histogram_encode(&histogram, payload);
    CHECK(!histogram_decode(&decoded, payload, length, &error));
    CHECK(histogram_equal(&decoded, &histogram));
    CHECK(decoded.total == histogram.total);
    CHECK(percentile(&decoded, 99.99) == percentile(&histogram, 99.99));
    free(payload);
    histogram_fini(&histogram);
    histogram_fini(&decoded);
}

static void known_payload_is_written(void)
{
    /* 2 at 0; one zero; 1 at 2; five zeros; 100 at 8 */
    static const unsigned char expected[] = {4, 0, 2, 9, 0xC8, 1};
    struct histogram histogram = make(3);
    unsigned char *payload = malloc(histogram_encoded_limit(&histogram));

    histogram_add(&histogram, 0, 2);
    histogram_add(&histogram, 2, 1);
    histogram_add(&histogram, 8, 100);
    CHECK(histogram_encode(&histogram, payload) == sizeof expected);
    CHECK(!memcmp(payload, expected, sizeof expected));
    free(payload);
    histogram_fini(&histogram);
}

static void damaged_payloads_are_refused(void)
{
    static const struct {
        unsigned char bytes[10];
        size_t length;
    } payloads[] = {
        {{4, 0x80}, 2},                                              /* ends inside */
        {{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}, 9}, /* INT64_MIN */
        {{0xFF, 0xFF, 0xFF, 0x7F}, 4}, /* a run too long */
        {{0xBF, 0x84, 0x3D, 2}, 4},    /* one count too many */
    };
    struct histogram histogram = make(3);
    struct error error;

    for (size_t i = 0; i < sizeof payloads / sizeof *payloads; i++) {
        CHECK(histogram_decode(&histogram, payloads[i].bytes, payloads[i].length,
                               &error) == -1);
        CHECK(error.kind == ERROR_INVALID);
    }
    CHECK(histogram.total == 0);
    histogram_fini(&histogram);
}

static void random_payloads_do_no_harm(void)
{
    struct histogram histogram = make(2);
    const uint64_t word = 4;
    unsigned char payload[64];
    struct error error;
    struct rng rng;

    rng_seed(&rng, &word, 1);
    for (int i = 0; i < 20000; i++) {
        size_t length = rng_below(&rng, sizeof payload);
        for (size_t at = 0; at < length; at++)
            payload[at] = (unsigned char)rng_below(&rng, i % 2 ? 256 : 160);
        (void)histogram_decode(&histogram, payload, length, &error);
    }
    histogram_fini(&histogram);
}

static void recording_allocates_nothing(void)
{
    struct histogram now = make(3), seen = make(3), part = make(3);
    long before = allocations_made();
    struct error error;

    for (int64_t value = 1; value < highest_ns; value += value / 100 + 1)
        histogram_record(&now, value);
    histogram_difference(&now, &seen, &part);
    CHECK(!histogram_merge(&part, &now, &error));
    histogram_reset(&part);
    CHECK(allocations_made() == before);
    histogram_fini(&now);
    histogram_fini(&seen);
    histogram_fini(&part);
}

struct writer {
    struct histogram histogram;
    atomic_bool done;
};

static void *write_values(void *context)
{
    struct writer *writer = context;
    const uint64_t word = 5;
    struct rng rng;

    rng_seed(&rng, &word, 1);
    for (int i = 0; i < 300000; i++)
        histogram_record(&writer->histogram, any_value(&rng, 40));
    atomic_store_explicit(&writer->done, true, memory_order_release);
    return NULL;
}

static void reader_beside_the_writer_misses_nothing(void)
{
    struct writer writer = {.histogram = make(3)};
    struct histogram seen = make(3), part = make(3), all = make(3);
    struct error error;
    pthread_t thread;
    bool done = false;

    CHECK(!pthread_create(&thread, NULL, write_values, &writer));
    while (!done) {
        done = atomic_load_explicit(&writer.done, memory_order_acquire);
        histogram_difference(&writer.histogram, &seen, &part);
        CHECK(!histogram_merge(&all, &part, &error));
    }
    pthread_join(thread, NULL);
    CHECK(histogram_equal(&all, &writer.histogram));
    CHECK(all.total == writer.histogram.total && all.total == 300000);
    histogram_fini(&writer.histogram);
    histogram_fini(&seen);
    histogram_fini(&part);
    histogram_fini(&all);
}

int main(void)
{
    RUN(buckets_cover_all_values);
    RUN(buckets_are_narrow);
    RUN(bad_layouts_are_refused);
    RUN(highest_may_be_any_integer);
    RUN(extremes_are_exact);
    RUN(negative_values_count_as_zero);
    RUN(too_high_values_are_kept_apart);
    RUN(percentiles_out_of_range_are_refused);
    RUN(rank_is_not_rounded_up);
    RUN(merged_equals_recorded_together);
    RUN(other_layouts_do_not_merge);
    RUN(empty_merges_without_effect);
    RUN(reset_forgets_everything);
    RUN(differences_add_up);
    RUN(difference_of_nothing_is_empty);
    RUN(decoded_equals_encoded);
    RUN(known_payload_is_written);
    RUN(damaged_payloads_are_refused);
    RUN(random_payloads_do_no_harm);
    RUN(recording_allocates_nothing);
    RUN(reader_beside_the_writer_misses_nothing);
    return REPORT();
}
