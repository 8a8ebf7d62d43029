"""How much faster is MariaDB here if it flushes its redo log once a second only.

Starts two private servers in turn, measures them, and leaves everything in results/.
Run it again: what is stored is not measured again.
"""

import benchkit as bk

baseline = bk.Config("baseline", {"innodb_buffer_pool_size": "256M"})
flush_2 = baseline.replace("flush-2", innodb_flush_log_at_trx_commit=2)

study = bk.Study(
    "first-study",
    servers=[bk.Server(baseline), bk.Server(flush_2)],
    workloads=[bk.workloads.oltp_read_write(tables=1, rows=100_000)],
    threads=[1, 4],
    iterations=3,
    duration="5s",
    warmup="2s",
)
print(study.plan(), end="\n\n", flush=True)
results = study.run("results/first_study")

print(results.compare("tps", baseline="baseline"), end="\n\n")
print(results.compare("latency_p95", baseline="baseline"), end="\n\n")

figure = bk.plot.throughput(results, "tps").figure
figure.savefig("results/first_study.png", dpi=150)
print("runs: results/first_study    figure: results/first_study.png")
