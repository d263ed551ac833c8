"""Make the documentation's pictures again and put down what they were made from.

    python -m tests.pictures            # all
    python -m tests.pictures report     # one group: report, pages
    python -m tests.pictures --stale    # name those whose templates have changed since

The report's, and those of matrix, cell and report among the pages, come from docs/images/campaign.zip, the bundle of a
real campaign (`plimsoll bundle CAMPAIGN -o docs/images/campaign.zip`); without that file, from made-up results. The
captions in README.md and docs/guides/pages.md are written to say which. They take Chromium, and a processor's minute.
"""

import sys

from tests.pictures import captions, record, report


def main(arguments: list[str]) -> None:
    """Take pictures of the named groups, or of all."""
    if arguments == ["--stale"]:
        print("\n".join(record.stale(record.recorded())) or "no picture is stale")
        return
    for group in arguments or record.GROUPS:
        if group == "report":
            report.take(record.IMAGES)
        elif group == "pages":
            from tests.airflow.web import pictures  # sets up an Airflow

            pictures.main(record.IMAGES)
        else:
            raise SystemExit(f"no group of pictures is called {group}: {', '.join(record.GROUPS)}")
        record.record(group)
        captions.write_captions()
        print(f"made again: {', '.join(record.GROUPS[group].pictures)}")


if __name__ == "__main__":
    main(sys.argv[1:])
