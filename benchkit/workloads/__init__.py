"""Workloads as data: the model and the OLTP scripts."""
