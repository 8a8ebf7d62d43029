"""Every notebook runs from top to bottom on a real server, and leaves what it promises."""

import asyncio
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from shortened import shorten

NOTEBOOKS = sorted((Path(__file__).resolve().parent.parent / "notebooks").glob("*.ipynb"))

# What must hold after a notebook's last cell, and how many figures it shows.
LEAVES = {
    "01_first_study.ipynb": (
        """
        assert list(results.labels) == ["baseline", "flush-2"]
        assert len(frame) == 18 and (frame["tps"] > 0).all()
        assert tps.shape == (3, 3) and per_second.shape[0] == 3
        assert (spread >= 0).all()
        assert histogram.total == sum(r.metrics["committed"] for r in baseline.records
                                      if r.factors.threads == 4)
        assert (milliseconds[1:] >= milliseconds[:-1]).all()
        assert list(comparison.frame["threads"]) == [1, 2, 4]
        assert throughput.has_data() and percentiles.has_data()
        assert not server.running
        """,
        2,
    ),
}


def read(path):
    return nbformat.read(path, as_version=4)


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_notebook_stores_no_outputs(path):
    cells = code_cells(read(path))
    assert [cell.source for cell in cells if cell.outputs or cell.execution_count] == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
# The kernel's client opens ports, event loops and files that it leaves to the collector.
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_notebook_runs_and_leaves_what_it_promises(path, tmp_path):
    promise, figures = LEAVES[path.name]
    notebook = read(path)
    for cell in code_cells(notebook):
        cell.source = shorten(cell.source)
    lines = [line.removeprefix(" " * 8) for line in promise.strip("\n").splitlines()]
    notebook.cells.append(nbformat.v4.new_code_cell("\n".join(lines)))
    asyncio.run(execute(notebook, tmp_path))
    shown = [output for cell in code_cells(notebook) for output in cell.outputs]
    assert sum("image/png" in output.get("data", {}) for output in shown) == figures


async def execute(notebook, folder):
    client = NotebookClient(
        notebook, timeout=250, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    )
    await client.async_execute()
