"""What InnoDB's doublewrite buffer costs TPROC-C, in new orders per minute.

Two setups that differ in one option. Every run begins with the same data, restored from an
image, and after every run the data are checked. Run it again: what is stored is not measured
again.
"""

import benchkit as bk

baseline = bk.Config("baseline", {"innodb_buffer_pool_size": "256M", "innodb_doublewrite": 1})
off = baseline.replace("doublewrite-off", innodb_doublewrite=0)

study = bk.Study(
    "doublewrite",
    servers=[bk.Server(baseline), bk.Server(off)],
    workloads=[bk.workloads.tprocc(warehouses=2)],
    threads=[1, 8],
    iterations=3,
    duration="20s",
    warmup="5s",
)
print(study.plan(), end="\n\n", flush=True)
results = study.run("results/doublewrite")

comparison = results.compare("nopm", baseline="baseline")
print(comparison.table("taf").render("text"), end="\n\n")
print(comparison)
