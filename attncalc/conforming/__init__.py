"""Conformance tests of attention kernels: cases, references with error bounds, and causes."""
