"""Facts about the machine."""

from pathlib import Path

import pytest

from benchkit import host, limits, storage


def write(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_facts_of_this_machine():
    facts = host.facts()
    assert facts["cpu_count"] >= 1
    assert facts["ram_bytes"] > 2**20
    assert facts["kernel"]
    assert facts["os"] == "Linux"
    assert facts["libc"]


def test_facts_come_from_the_kernels_files(tmp_path):
    write(tmp_path, "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n")
    write(tmp_path, "sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n")
    write(tmp_path, "sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n")
    write(tmp_path, "proc/cpuinfo", "model name\t: Fast 9000\nflags\t\t: fpu hypervisor\n")
    write(tmp_path, "sys/class/dmi/id/product_name", "KVM\n")
    write(tmp_path, "run/.containerenv", "")
    write(tmp_path, "etc/os-release", 'NAME="Some Linux"\nVERSION_ID="12"\n')
    write(tmp_path, "etc/ld.so.preload", "/usr/lib/libjemalloc.so.2\n")
    write(tmp_path, "sys/kernel/mm/transparent_hugepage/defrag", "always [defer+madvise] never\n")
    write(tmp_path, "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "performance\n")
    write(tmp_path, "sys/devices/system/cpu/intel_pstate/no_turbo", "1\n")
    write(tmp_path, "sys/devices/system/cpu/smt/active", "0\n")
    write(tmp_path, "proc/meminfo", "MemTotal: 9 kB\nSwapTotal:       2048 kB\n")
    write(tmp_path, "proc/sys/vm/swappiness", "60\n")
    write(tmp_path, "proc/cmdline", "root=/dev/x mitigations=off key=sEcr3t nosmt quiet\n")
    for node in range(2):
        (tmp_path / f"sys/devices/system/node/node{node}").mkdir(parents=True)
    for cpu, package in enumerate((0, 0, 1, 1)):
        name = f"sys/devices/system/cpu/cpu{cpu}/topology/physical_package_id"
        write(tmp_path, name, f"{package}\n")
    facts = host.facts(tmp_path)
    expected = {
        "governor": "performance, powersave",
        "turbo": "off",
        "smt": "off",
        "thp_defrag": "defer+madvise",
        "swap_bytes": 2 << 20,
        "swappiness": 60,
        "numa_nodes": 2,
        "boot_options": "mitigations=off nosmt",
        "preloaded": "libjemalloc.so.2",
        "thp": "madvise",
        "clocksource": "hpet",
        "cpu": "Fast 9000",
        "virtualization": "podman on KVM",
        "os_version": "Some Linux 12",
        "socket_count": 2,
    }
    assert {name: facts[name] for name in expected} == expected


def test_what_the_machine_does_not_show_is_none(tmp_path):
    facts = host.facts(tmp_path)
    shown = {"host", "cpu", "cpu_count", "core_count", "ram_bytes", "os", "kernel", "libc"}
    hidden = facts.keys() - shown
    assert {name: facts[name] for name in hidden} == dict.fromkeys(hidden)
    assert set(storage.facts(tmp_path, tmp_path / "none").values()) == {None}
    bounds = limits.facts(tmp_path)
    assert (bounds["cpu_limit"], bounds["memory_limit_bytes"]) == (None, None)


def test_bytes_that_are_no_text_do_not_hide_a_fact(tmp_path):
    file = tmp_path / "proc/cpuinfo"
    file.parent.mkdir()
    file.write_bytes(b"model name\t: Fast\xff 9000\n")
    assert host.facts(tmp_path)["cpu"] == "Fast\ufffd 9000"


def test_disk_below_a_directory_is_found(tmp_path):
    root = tmp_path / "root"
    data = tmp_path / "my data"
    data.mkdir()
    escaped = str(data).replace(" ", "\\040")
    write(
        root,
        "proc/self/mountinfo",
        "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n"
        f"2 1 259:2 / {escaped} rw,noatime shared:1 - xfs /dev/nvme0n1p2 rw,inode64\n",
    )
    disk = "sys/devices/pci/nvme0n1"
    write(root, f"{disk}/device/model", "Fast Disk 990  \n")
    write(root, f"{disk}/queue/scheduler", "mq-deadline [none]\n")
    write(root, f"{disk}/queue/rotational", "0\n")
    write(root, f"{disk}/nvme0n1p2/partition", "2\n")
    (root / "sys/dev/block").mkdir(parents=True)
    (root / "sys/dev/block/259:2").symlink_to(root / disk / "nvme0n1p2")
    assert storage.facts(data / "not there yet", root) == {
        "data_file_system": "xfs",
        "data_mount_options": "rw,noatime,inode64",
        "data_device": "nvme0n1",
        "data_disk": "Fast Disk 990",
        "data_scheduler": "none",
        "data_rotational": 0,
    }


def test_disk_of_this_machine_has_a_file_system(tmp_path):
    assert storage.facts(tmp_path)["data_file_system"]


CGROUPS = {
    "version 2": (
        "0::/a/b\n",
        {"sys/fs/cgroup/a/cpu.max": "150000 100000", "sys/fs/cgroup/a/b/cpu.max": "max 100000"},
        {"sys/fs/cgroup/a/b/memory.max": "1073741824"},
    ),
    "version 1, in a container": (
        "4:memory:/docker/x\n3:cpu,cpuacct:/docker/x\n",
        {
            "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "150000",
            "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000",
        },
        {"sys/fs/cgroup/memory/memory.limit_in_bytes": "1073741824"},
    ),
}


@pytest.mark.parametrize("version", CGROUPS)
def test_limits_of_control_groups_are_found(tmp_path, version):
    groups, cpu, memory = CGROUPS[version]
    write(tmp_path, "proc/self/cgroup", groups)
    for name, text in {**cpu, **memory}.items():
        write(tmp_path, name, text + "\n")
    found = limits.facts(tmp_path)
    assert (found["cpu_limit"], found["memory_limit_bytes"]) == ("1.5", 1 << 30)


def test_no_limit_of_version_1_is_none(tmp_path):
    write(tmp_path, "proc/self/cgroup", "4:memory:/\n")
    write(tmp_path, "sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n")
    assert limits.facts(tmp_path)["memory_limit_bytes"] is None
