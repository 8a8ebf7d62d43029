"""Facts about the machine."""

from pathlib import Path

from benchkit import host


def write(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_facts_of_this_machine():
    facts = host.facts()
    assert facts["cpu_count"] >= 1
    assert facts["ram_bytes"] > 2**20
    assert facts["kernel"]
    assert facts["os"]


def test_facts_come_from_the_kernels_files(tmp_path):
    write(tmp_path, "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n")
    write(tmp_path, "sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n")
    write(tmp_path, "sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n")
    write(tmp_path, "proc/cpuinfo", "model name\t: Fast 9000\nflags\t\t: fpu hypervisor\n")
    write(tmp_path, "sys/class/dmi/id/product_name", "KVM\n")
    write(tmp_path, "run/.containerenv", "")
    write(tmp_path, "etc/os-release", 'NAME="Some Linux"\nVERSION_ID="12"\n')
    for cpu, package in enumerate((0, 0, 1, 1)):
        name = f"sys/devices/system/cpu/cpu{cpu}/topology/physical_package_id"
        write(tmp_path, name, f"{package}\n")
    facts = host.facts(tmp_path)
    expected = {
        "governor": "powersave",
        "thp": "madvise",
        "clocksource": "hpet",
        "cpu": "Fast 9000",
        "virtualization": "podman on KVM",
        "os": "Some Linux",
        "os_version": "12",
        "socket_count": 2,
    }
    assert {name: facts[name] for name in expected} == expected


def test_what_the_machine_does_not_show_is_none(tmp_path):
    facts = host.facts(tmp_path)
    hidden = ("governor", "thp", "clocksource", "virtualization", "os", "socket_count")
    assert {name: facts[name] for name in hidden} == dict.fromkeys(hidden)
