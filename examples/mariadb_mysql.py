"""MariaDB against MySQL over the eight tests of sysbench 0.5, in percent.

MySQL 9.7 is got from Debian's packages the first time. The table has a row for each test and a
column for each number of threads: 100 is as fast as MySQL, more is faster.
"""

import benchkit as bk

options = {
    "innodb_buffer_pool_size": "1G",
    "innodb_flush_method": "O_DIRECT",
    "innodb_doublewrite": 0,
    "disable_log_bin": None,  # MySQL has a binary log by default, MariaDB has not
}
tests = ["delete", "insert", "oltp_complex_ro", "oltp_complex_rw"]
tests += ["oltp_simple", "select", "update_index", "update_non_index"]

study = bk.Study(
    "mariadb-mysql",
    servers=[
        bk.Server(bk.Config("MySQL", options), install=bk.Install.get("mysql", "9.7")),
        bk.Server(bk.Config("MariaDB", options), install=bk.Install.get("mariadb", "11.8")),
    ],
    workloads=[bk.workloads.find(f"sysbench/0.5:{test}", rows=200_000) for test in tests],
    threads=[1, 4, 8, 16, 32, 64, 128],
    iterations=3,
    duration="30s",
    warmup="5s",
)
results = study.run("results/mariadb_mysql")
print(results.compare("qps", baseline="MySQL").table("percent"))
