"""The version of everything in this repository; stated nowhere else."""

VERSION = "0.1.0"
