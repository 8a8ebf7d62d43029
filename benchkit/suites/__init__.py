"""Suites: what turns one planned run into a measured one."""
