"""Reads the heads of the tables of a page."""

import html
import re


def heads_of(page):
    """Return the heads of each table."""
    tables = re.findall(r"<thead>(.*?)</thead>", page, re.DOTALL)
    return [[html.unescape(h) for h in re.findall(r"<th[^>]*>(.*?)</th>", t)] for t in tables]
