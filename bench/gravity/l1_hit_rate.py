#!/usr/bin/env python3
"""Hit rates of the L1 cache in the walks of the tree code: figures 8 and 12 of [OMBMN12], and sorted against random targets.

    bench/gravity/l1_hit_rate.py build/auto/kasane -o l1.json          # 2^20 particles; figure 12: 2^17 to 2^23
    bench/gravity/l1_hit_rate.py build/auto/kasane -o l1.json --n 131072
    kasane bench --from l1.json --page l1.html

Runs `kasane bench gravity.tree.links gravity.tree.order gravity.tree.curve` under Nsight Compute (ncu), which records one walk of each row, and
adds what it measured to the rows of the record:

    l1_hit_rate         sectors that the L1 cache answered, of all that were requested (global and local memory)
    l1_global_hit_rate  the same for loads from global memory alone: tree and particles
    l1_local_share      sectors of local memory, of all: registers that were spilled
    l2_hit_rate         sectors that the L2 cache answered, of all that the L1 cache passed on
    registers           of a thread (table 2)
    occupancy           warps that were resident on average, of the most that a multiprocessor can hold (table 2)

Times of the record are those of walks that were not recorded, while ncu was attached. A CUDA device and the permission to read its counters are
needed; where one is missing the script says what and ends with status 2. There is no substitute: counts of the program do not show what a cache
holds.

--profile FILE reads a table that ncu printed before (--csv --page raw) instead of starting it, with --record, the record of the same run.
"""
import argparse
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile

LOADS = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld"
LOCAL = [f"l1tex__t_sectors_pipe_lsu_mem_local_op_{op}.sum" for op in ("ld", "st")]
METRICS = ["l1tex__t_sector_hit_rate.pct", f"{LOADS}_lookup_hit.sum", f"{LOADS}.sum", *LOCAL, "l1tex__t_sectors.sum",
           "lts__t_sector_hit_rate.pct", "launch__registers_per_thread", "sm__warps_active.avg.pct_of_peak_sustained_active"]
STUDIES = ["gravity.tree.links", "gravity.tree.order", "gravity.tree.curve"]


def fail(message):
    print(f"l1_hit_rate.py: {message}", file=sys.stderr)
    sys.exit(2)


def find_ncu(given):
    found = given or shutil.which("ncu")
    for folder in (os.environ.get("CUDA_HOME", ""), "/usr/local/cuda"):
        if not found and folder and os.access(os.path.join(folder, "bin", "ncu"), os.X_OK):
            found = os.path.join(folder, "bin", "ncu")
    if not found or not shutil.which(found):
        fail(f"{found or 'ncu (Nsight Compute)'} was not found: install it with the CUDA toolkit, or name it with --ncu FILE")
    return found


def profile(ncu, kasane, sizes, record, table):
    """Runs the studies under ncu; writes its table."""
    command = [ncu, "--profile-from-start", "off", "--clock-control", "none", "--csv", "--page", "raw", "--print-units", "base",
               "--metrics", ",".join(METRICS), "--log-file", table, kasane, "bench", *STUDIES, "--device", "cuda", "--json", record]
    if sizes:
        command += ["--n", sizes]
    status = subprocess.run(command, check=False).returncode
    text = open(table, encoding="utf-8").read() if os.path.exists(table) else ""
    if "ERR_NVGPUCTRPERM" in text:
        fail("the driver does not let this user read the counters (ERR_NVGPUCTRPERM): run as root, or load the driver with "
             "NVreg_RestrictProfilingToAdminUsers=0")
    errors = [line for line in text.splitlines() if line.startswith("==ERROR==")]
    if errors or status != 0:
        fail(f"ncu ended with status {status}: " + ("; ".join(errors) or "its messages stand above") +
             ". On virtual machines without access to the counters ncu cannot measure")


def launches(table):
    """The recorded walks in the order of their launch: {metric: number}, with the kernel's name."""
    lines = [line for line in open(table, encoding="utf-8").read().splitlines() if line.startswith('"')]
    rows = list(csv.DictReader(lines))
    if rows and not rows[0].get("ID"):
        rows = rows[1:]  # the units
    missing = [metric for metric in METRICS if not rows or metric not in rows[0]]
    if missing:
        fail("the table of ncu lacks " + ", ".join(missing) + (": no kernel was recorded" if not rows else ": this version names it otherwise"))
    found = []
    for row in rows:
        numbers = {}
        for metric in METRICS:
            try:
                numbers[metric] = float(row[metric].replace(",", ""))
            except ValueError:
                fail(f'the table of ncu has "{row[metric]}" for {metric} of launch {row["ID"]}')
        numbers["kernel"] = row["Kernel Name"]
        found.append(numbers)
    return found


def share(part, whole):
    return part / whole if whole > 0 else 0.0


def add(record, walks):
    """Adds the numbers of the walks to the rows, which have one walk each."""
    rows = [row for row in record["results"] if row["case"].split(",")[0] in STUDIES]
    if len(rows) != len(walks):
        fail(f"ncu recorded {len(walks)} walks and the record has {len(rows)} rows: they belong to different runs")
    for row, walk in zip(rows, walks):
        if "walk" not in walk["kernel"]:
            fail(f'ncu recorded the kernel {walk["kernel"]} for the row "{row["case"]}": a walk was expected')
        local = sum(walk[metric] for metric in LOCAL)
        row["l1_hit_rate"] = walk["l1tex__t_sector_hit_rate.pct"] / 100
        row["l1_global_hit_rate"] = share(walk[f"{LOADS}_lookup_hit.sum"], walk[f"{LOADS}.sum"])
        row["l1_local_share"] = share(local, walk["l1tex__t_sectors.sum"])
        row["l2_hit_rate"] = walk["lts__t_sector_hit_rate.pct"] / 100
        row["registers"] = walk["launch__registers_per_thread"]
        row["occupancy"] = walk["sm__warps_active.avg.pct_of_peak_sustained_active"] / 100


def write(record, file):
    head = json.dumps({key: value for key, value in record.items() if key != "results"}, indent=2)
    rows = ",\n    ".join(json.dumps(row) for row in record["results"])
    with open(file, "w", encoding="utf-8") as out:
        out.write(head[:-2] + ',\n  "results": [\n    ' + rows + "\n  ]\n}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kasane", nargs="?", help="the program, of a build with CUDA")
    parser.add_argument("-o", "--output", required=True, help="the record to write")
    parser.add_argument("--n", default="", help="numbers of particles, separated by commas; default: those of the studies")
    parser.add_argument("--ncu", default="", help="the program ncu; default: from PATH, CUDA_HOME or /usr/local/cuda")
    parser.add_argument("--profile", default="", help="read this table of ncu, and start nothing")
    parser.add_argument("--record", default="", help="with --profile: the record of the same run")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        record, table = given.record or os.path.join(folder, "record.json"), given.profile or os.path.join(folder, "ncu.csv")
        if given.profile:
            if not given.record:
                fail("--profile needs the record of the same run: name it with --record FILE")
        else:
            if not given.kasane:
                fail("name the program kasane, or a table of ncu with --profile and --record")
            profile(find_ncu(given.ncu), given.kasane, given.n, record, table)
        with open(record, encoding="utf-8") as text:
            content = json.load(text)
        add(content, launches(table))
        write(content, given.output)


if __name__ == "__main__":
    main()
