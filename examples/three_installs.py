"""Compare three servers reading: which is fastest, and with how many threads.

The system's MariaDB beside MariaDB 11.8 and MySQL 9.7, which are got from Debian's packages the
first time: `sysbench oltp_read_only` from 4 to 128 threads. Prints the report as TAF lays it out.
Run it again: what is stored is not measured again.
"""

import benchkit as bk

installs = [bk.Install(), bk.Install.get("mariadb", "11.8"), bk.Install.get("mysql", "9.7")]
options = {"innodb_buffer_pool_size": "1G", "disable_log_bin": None}

study = bk.Study(
    "three-installs",
    servers=[bk.Server(bk.Config(install.name, options), install=install) for install in installs],
    workloads=[bk.workloads.oltp_read_only(tables=8, rows=100_000)],
    threads=[4, 8, 16, 32, 64, 128],
    iterations=3,
    duration="30s",
    warmup="5s",
)
results = study.run("results/three_installs")
print(results.compare("tps"), end="\n\n")
print(results.compare("tps").table("taf"))
