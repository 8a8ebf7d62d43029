"""benchkit: measure MariaDB and MySQL servers, and tell whether one is really faster.

``import benchkit as bk``; then `Config`, `Server`, ``workloads`` and `Study` measure, `load`
reads what was measured, and ``plot`` draws it. The README has the tour.
"""

from benchkit import generators, plot, workloads
from benchkit.api import Install, Study, from_auto, from_hammerdb, from_sysbench, from_taf
from benchkit.config import Config
from benchkit.errors import (
    BenchkitError,
    ComparisonError,
    ConfigError,
    DatabaseError,
    MetricError,
    RunError,
    ServerError,
    StoreError,
    StudyError,
    StudyWarning,
    WorkloadError,
)
from benchkit.hammerdb_export import export as to_hammerdb
from benchkit.importers.model import ImportFormatError
from benchkit.metrics import METRICS
from benchkit.optionfile import OptionFile, read_option_file
from benchkit.properties import PropertiesFile, read_properties
from benchkit.properties_study import study_from_properties
from benchkit.results import load
from benchkit.server import Server
from benchkit.version import get_version

__all__ = [
    "METRICS",
    "BenchkitError",
    "ComparisonError",
    "Config",
    "ConfigError",
    "DatabaseError",
    "ImportFormatError",
    "Install",
    "MetricError",
    "OptionFile",
    "PropertiesFile",
    "RunError",
    "Server",
    "ServerError",
    "StoreError",
    "Study",
    "StudyError",
    "StudyWarning",
    "WorkloadError",
    "from_auto",
    "from_hammerdb",
    "from_sysbench",
    "from_taf",
    "generators",
    "get_version",
    "load",
    "plot",
    "read_option_file",
    "read_properties",
    "study_from_properties",
    "to_hammerdb",
    "workloads",
]
