"""Bringing server, data and replicas to where a run may begin, as its iteration mode says.

The order is always the same: data and server as the mode wants them, replicas attached and
caught up, everything at rest. What was done is kept with the attempt.
"""

import hashlib
import math
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchkit.attempt import Attempt
from benchkit.conditions import Conditions
from benchkit.image import (
    PREFIX,
    Image,
    can_clone,
    clearing,
    open_image,
    remove_images,
    sync_tree,
    take_image,
)
from benchkit.placement import placed_on
from benchkit.progress import LoadMeter
from benchkit.rest import await_rest
from benchkit.room import room_of
from benchkit.server import Server
from benchkit.suites.native import Load, LoadOrder, drop_data, ensure_loaded
from benchkit.topology import await_caught_up
from benchkit.units import format_duration
from benchkit.workloads import Workload


@dataclass(slots=True)
class Preparer:
    """Prepares the runs of a study.

    Parameters
    ----------
    order_load : callable
        From a workload to what is to be loaded for it.
    home : Path
        Below it, data and images are the study's own.
    conditions : Conditions
    rest_limit_s : float
        How long to wait for servers to come to rest; 0 does not wait.
    show_step : callable
        Told what is going on.
    """

    order_load: Callable[[Workload], LoadOrder]
    home: Path
    conditions: Conditions
    rest_limit_s: float
    show_step: Callable[[str], None]
    _images: dict[Path, Image] = field(init=False, default_factory=dict)

    def prepare(self, server: Server, attempt: Attempt, *, fresh: bool) -> None:
        """Prepare a run; `attempt.load` and `attempt.preparation` say what was done.

        Parameters
        ----------
        server : Server
            Running, unless the run's mode is restore.
        attempt : Attempt
        fresh : bool
            Whether the server was started for this run, and did nothing yet.

        Raises
        ------
        BenchkitError
            When something of it fails.
        """
        done = attempt.preparation
        done["iteration_mode"] = mode = attempt.run.mode
        if mode == "restore":
            done |= self._restore(server, attempt)
        else:
            self._load(server, attempt, anew=mode == "reset" or attempt.run.workload.fresh_data)
        if mode == "restart" and not (fresh and (attempt.load is None or attempt.load.reused)):
            self.show_step("restarting")
            server.restart()
        if server.replicas:
            self.show_step("waiting for replicas")
            done["caught_up_s"] = await_caught_up(server)
        if self.rest_limit_s and attempt.native.needs_server:
            self._rest(server, attempt)

    def remove_untrusted(self, server: Server) -> None:
        """Remove images from a directory that is the user's, where anyone may change the data."""
        if server.directory is not None and not server.directory.is_relative_to(self.home):
            remove_images(server.directory)

    def _load(self, server: Server, attempt: Attempt, *, anew: bool) -> None:
        """Load what is not there, and see that replicas are attached."""
        workload = attempt.run.workload
        if workload.tables:
            attempt.load = self._ensure_loaded(server, self.order_load(workload), anew)
        if server.topology is None:
            return
        loaded = attempt.load is not None and not attempt.load.reused
        if not server.replicas or (loaded and server.topology.attach == "image"):
            self.show_step("making replicas")
            server.attach_replicas()

    def _ensure_loaded(self, server: Server, order: LoadOrder, anew: bool) -> Load:
        self.show_step("loading")
        meter, room = LoadMeter(order.rows, self.show_step), room_of(server)

        def on_rows(rows: int) -> None:
            meter(rows)
            room.read()

        with placed_on(self.conditions.load_cpus):
            return ensure_loaded(server, order, on_rows, anew=anew)

    def _restore(self, server: Server, attempt: Attempt) -> dict[str, Any]:
        """Put the data back from their image, taken if there is none; start the server."""
        order = self.order_load(attempt.run.workload)
        path = _image_path(server, order)
        image = self._images.get(path) or open_image(path)
        done: dict[str, Any] = {"image": "taken" if image is None else "found"}
        if image is None:
            image = self._take_image(server, attempt, order)
        self._images[path] = image
        with ExitStack() as stack:
            with server.at_rest() as folders:
                self.show_step("restoring")
                done["restore_s"] = image.restore(folders)
                stack.enter_context(clearing(folders))
                done["cloned"] = can_clone(path.parent)
                done["sync_s"] = _sync(folders.values())
            self.show_step("starting")
            server.start()
        if attempt.load is None:
            self._load(server, attempt, anew=False)
        return done

    def _take_image(self, server: Server, attempt: Attempt, order: LoadOrder) -> Image:
        """Load anew, with nothing else of the study there, and take an image of it."""
        server.start()
        drop_data(server, order.data_id)
        self._load(server, attempt, anew=True)
        if server.replicas:
            await_caught_up(server)
        for each in (server, *server.replicas):
            each.query("SET GLOBAL innodb_fast_shutdown = 0")  # leave nothing to purge
        with server.at_rest() as folders:
            self.show_step("taking an image")
            return take_image(_image_path(server, order), folders)

    def _rest(self, server: Server, attempt: Attempt) -> None:
        self.show_step("waiting for rest")
        rest = await_rest([server, *server.replicas], self.rest_limit_s)
        attempt.preparation["rest"] = rest._asdict()
        if not rest.settled:
            cpu = "" if math.isnan(rest.cpu_share) else f"CPU {rest.cpu_share:.0%}, "
            attempt.watchers.notes.append(
                f"the server was not at rest after {format_duration(rest.waited_s)}: {cpu}"
                f"{rest.history_length} transactions to purge, {rest.dirty_pages} dirty pages"
            )


def _sync(folders: Iterable[Path]) -> float:
    """Write to disk what was copied; return the seconds it took."""
    started = time.monotonic()
    for folder in folders:
        sync_tree(folder)
    return time.monotonic() - started


def _image_path(server: Server, order: LoadOrder) -> Path:
    assert server.directory is not None
    key = f"{order.database}/{order.key}" if order.workload.tables else "none"
    return server.directory / (PREFIX + hashlib.sha256(key.encode()).hexdigest()[:12])
