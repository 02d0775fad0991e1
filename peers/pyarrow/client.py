"""Reads events.parquet, and reports its columns, its row groups and its rows."""

import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "target" / "lib"))
sys.dont_write_bytecode = True
import pyarrow  # noqa: E402
import pyarrow.parquet as parquet  # noqa: E402


def say(event, **fields):
    print(json.dumps({"event": event, **fields}), flush=True)


def main():
    say("hello", version=pyarrow.__version__)
    path = Path(os.environ["LASTMILE_DATA"]) / "events.parquet"
    file = parquet.ParquetFile(path)
    columns = {field.name: str(field.type) for field in file.schema_arrow}
    say("columns", columns=columns, rows=file.metadata.num_rows, groups=file.metadata.num_row_groups)
    table = file.read()
    time = table.schema.get_field_index("time")
    # As integers: Python's own times have microseconds.
    table = table.set_column(time, "time", table.column(time).cast(pyarrow.int64()))
    for row in table.to_pylist():
        # JSON has no NaN and no infinities.
        say("row", **{name: repr(value) if value != value or value in (float("inf"), float("-inf")) else value for name, value in row.items()})
    say("end")


if __name__ == "__main__":
    if sys.argv[1:] == ["--version"]:
        print(f"pyarrow: {pyarrow.__version__}")
    else:
        main()
