"""What reading server and host once a second costs, in per cent of one core (at most 1 is wanted).

The server has `--threads` connections, because SHOW GLOBAL STATUS adds them up.
"""

import argparse
import time

import psutil
from bench import private_server

from benchkit.counters import Host, read_status


def main():
    """Print the CPU time of one reading, at the client and at the server."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--readings", type=int, default=500)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 64, 500])
    arguments = parser.parse_args()
    with private_server() as server:
        host = Host({"client": psutil.Process().pid, "server": server.pid})
        process = psutil.Process(server.pid)
        for threads in arguments.threads:
            sessions = [server.session() for _ in range(threads)]
            client, at_server = time.process_time(), sum(process.cpu_times()[:2])
            for _ in range(arguments.readings):
                host.read()
                read_status(sessions[0])
            client = (time.process_time() - client) / arguments.readings
            at_server = (sum(process.cpu_times()[:2]) - at_server) / arguments.readings
            print(
                f"{threads:4} connections: client {100 * client:.2f} %, "
                f"server {100 * at_server:.2f} %, together {100 * (client + at_server):.2f} %"
            )
            for session in sessions:
                session.close()


if __name__ == "__main__":
    main()
