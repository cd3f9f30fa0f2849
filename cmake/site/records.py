"""Tables of the records of bench/results as a page of Markdown, for the documentation site: python3 records.py bench/results > records.md

Of each machine and case the row of the newest record with the largest n. Cases that measure no speed (the equilibrium of galaxies) are in pages of
their own.
"""

import json
import sys
from pathlib import Path

NO_SPEED = ("gravity.galaxy.equilibrium",)


def number(value, digits=3):
    """1.23e12, 0.0123, 45.6 in Markdown; empty where it was not measured (null)."""
    return f"{value:.{digits}g}" if value else ""


def newest(directory):
    """{benchmark: {case: (row, record)}} of one machine, cases in the order of the newest record, and the machine."""
    found, machine = {}, {}
    for path in sorted(directory.glob("*.json")):
        record = json.loads(path.read_text(encoding="utf-8"))
        machine = record["machine"]
        largest = {}
        for row in record["results"]:
            case = row["case"]
            if not case.startswith(NO_SPEED) and (case not in largest or row["n"] >= largest[case]["n"]):
                largest[case] = row
        for case, row in largest.items():
            benchmark = case.split(",")[0].split(":")[0]
            found.setdefault(benchmark, {})[case] = (row, f"{path.stem}, {record['commit']}")
    return found, machine


def page(results):
    """The lines of the page."""
    yield "# Records"
    yield ""
    yield "The tables are made from the records in `bench/results` when the site is built: of each case the newest record, and its largest n."
    yield "`kasane bench NAME --json FILE` writes such a record. [numbers.md](docs/numbers.md) explains the results."
    for directory in sorted(path for path in results.iterdir() if path.is_dir()):
        found, machine = newest(directory)
        yield ""
        yield f"## {directory.name}: {machine.get('name', '')}"
        for benchmark in sorted(found):
            yield ""
            yield f"### {benchmark} on {directory.name}"
            yield ""
            yield "| case | n | time [ms] | rate | unit | of the bound | error | record |"
            yield "|---|--:|--:|--:|---|--:|--:|---|"
            for case, (row, record) in found[benchmark].items():
                name = case[len(benchmark) :].lstrip(",: ") or case
                share = f"{100 * row['bound_fraction']:.0f}%" if row["bound_fraction"] else ""
                cells = (name, f"{row['n']:,}", number(row["seconds"] and 1e3 * row["seconds"], 4), number(row["rate"], 4), row["unit"], share, number(row["error"], 2))
                yield "| " + " | ".join(str(cell).replace("|", "\\|") for cell in (*cells, record)) + " |"


if __name__ == "__main__":
    print("\n".join(page(Path(sys.argv[1]))))
