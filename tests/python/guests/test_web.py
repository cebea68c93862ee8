# SPDX-License-Identifier: Apache-2.0
"""The RTOS's web server: what its page and its JSON say, and how it is built."""

import json
import random
import subprocess
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path

import pytest

from gandalf.base.making import Log, quiet
from gandalf.base.paths import ROOT, UserError
from gandalf.guests import freertos, lwip
from gandalf.guests import web as guest_web

WEB, DEMO, RTOS = ROOT / "guest" / "web", ROOT / "guest" / "demo", ROOT / "guest" / "rtos"
LIMIT = 4096  # PAGE_MAXIMUM
BARS = 24  # HISTOGRAM_BARS
LARGEST = 2**32 - 1

PROGRAM = """
#include <stdio.h>
#include <string.h>
#include "page.h"
int main(int count, char **arguments)
{
	static struct statistics statistics;
	static char page[PAGE_MAXIMUM + 1];
	unsigned latency, missed, times, size;
	statistics_reset(&statistics);
	while (scanf("%u %u %u", &latency, &missed, &times) == 3) {
		statistics_add(&statistics, latency, missed);
		/* As if it had been added so many times more. */
		statistics.activations += times;
		statistics.sum += (double)times * latency;
		for (unsigned i = 0; i < STATISTICS_BUCKETS; i++)
			if (latency <= statistics_limit(i)) {
				statistics.bucket[i] += times;
				break;
			}
	}
	memset(page, '!', sizeof(page));
	if (count > 1 && arguments[1][0] == 'j')
		size = page_write_json(page, &statistics, 1000001);
	else
		size = page_write_html(page, &statistics, 4294967295u);
	if (page[PAGE_MAXIMUM] != '!' || size != strlen(page))
		return 1;
	fwrite(page, 1, size, stdout);
	return 0;
}
"""

Sample = tuple[int, int, int]  # latency, activations missed before it, times that it comes again


@pytest.fixture(scope="module")
def writer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compile what writes pages, for the host."""
    folder = tmp_path_factory.mktemp("web")
    (folder / "main.c").write_text(PROGRAM)
    sources = [WEB / name for name in ("page.c", "histogram.c", "text.c")]
    sources += [DEMO / "statistics.c", RTOS / "print.c"]
    # Nothing is printed; print() needs it all the same.
    (folder / "console.c").write_text("void console_write(const char *a, unsigned long b) {}\n")
    subprocess.run(
        ["gcc", "-Wall", "-Werror", "-fsanitize=address,undefined", "-fno-sanitize-recover=all",
         *(f"-I{path}" for path in (WEB, DEMO, RTOS)), folder / "main.c", folder / "console.c",
         *sources, "-o", folder / "writer"],
        check=True,
    )  # fmt: skip
    return folder / "writer"


def write(writer: Path, kind: str, samples: list[Sample]) -> str:
    given = "".join(f"{latency} {missed} {times}\n" for latency, missed, times in samples)
    done = subprocess.run([writer, kind], input=given, capture_output=True, text=True, check=True)
    return done.stdout


def some_samples(count: int, largest: int) -> list[Sample]:
    numbers = random.Random(count)  # noqa: S311 - a test wants the same figures every time
    return [(numbers.randint(0, largest), numbers.randint(0, 2), 0) for _ in range(count)]


SAMPLES = {
    "one": [(500, 0, 0)],
    "few": some_samples(50, 900),
    "many": some_samples(5000, 20000),
    "wide": some_samples(3000, LARGEST),
    "ends": [(0, 0, 0), (LARGEST, 7, 0)],
}


@pytest.mark.parametrize("name", SAMPLES)
def test_the_json_has_each_activation_in_its_bar(writer: Path, name: str) -> None:
    samples = SAMPLES[name]
    latencies = [latency for latency, _, _ in samples]
    found = json.loads(write(writer, "json", samples))
    assert found["activations"] == len(samples)
    assert found["missed"] == sum(missed for _, missed, _ in samples)
    assert found["minimum"] == min(latencies)
    assert found["maximum"] == max(latencies)
    assert found["mean"] == sum(latencies) // len(latencies)
    assert found["tsc_khz"] == 1000001
    assert min(latencies) <= found["p99.9"] <= max(latencies)
    bars = found["histogram"]
    assert 1 <= len(bars) <= BARS
    below = -1
    for bar in bars:
        inside = sum(below < latency <= bar["up_to"] for latency in latencies)
        assert bar["count"] == inside, bar
        below = bar["up_to"]
    assert below >= max(latencies)
    assert bars[0]["count"]
    assert bars[-1]["count"]


def test_without_activations_there_is_no_bar(writer: Path) -> None:
    found = json.loads(write(writer, "json", []))
    assert found["histogram"] == []
    assert {found[key] for key in ("activations", "minimum", "mean", "p99.9", "maximum")} == {0}
    ElementTree.fromstring(write(writer, "html", []).partition("\n")[2])  # noqa: S314 - our own


@pytest.mark.parametrize("name", SAMPLES)
def test_the_page_is_whole_and_says_the_same(writer: Path, name: str) -> None:
    samples = SAMPLES[name]
    kind, _, text = write(writer, "html", samples).partition("\n")
    assert kind == "<!DOCTYPE html>"
    figures = json.loads(write(writer, "json", samples))
    page = ElementTree.fromstring(text)  # noqa: S314 - our own
    assert page.tag == "html"
    rows = [[cell.text for cell in row] for row in page.iter("tr") if row.find("td") is not None]
    keys = ("activations", "missed", "minimum", "mean", "p99.9", "maximum")
    assert rows[0] == [str(figures[key]) for key in keys]
    bars = [[str(bar["up_to"]), str(bar["count"]), None] for bar in figures["histogram"]]
    assert rows[1:] == bars
    widths = [int(div.attrib["style"][len("width:") : -1]) for div in page.iter("div")]
    assert max(widths) == 100
    for width, bar in zip(widths, figures["histogram"], strict=True):
        assert (width > 0) == (bar["count"] > 0)
    order = sorted(zip(widths, (bar["count"] for bar in figures["histogram"]), strict=True))
    assert [count for _, count in order] == sorted(count for _, count in order)


def test_the_largest_figures_have_room(writer: Path) -> None:
    """Every bar, with ten digits wherever a number can have them."""
    top = [LARGEST - (i << 25) for i in range(BARS)]
    samples = [(latency, 178_000_000, 178_000_000) for latency in top]
    for kind in ("json", "html"):
        text = write(writer, kind, samples)
        assert len(text) < LIMIT - 128
        assert text.endswith("</html>\n" if kind == "html" else "]}\n")
    assert len(json.loads(write(writer, "json", samples))["histogram"]) > BARS / 2


@pytest.mark.parametrize(
    ("build", "image", "folder", "what"),
    [
        (guest_web.build, "web/web.elf", "guest/web", "the web server"),
        (
            guest_web.build_services,
            "bench/lwip/services.elf",
            "bench/lwip",
            "the bench's RTOS with TCP/IP",
        ),
    ],
)
def test_the_server_is_built_of_what_was_fetched(
    build: Callable[[Path, Log], Path],
    image: str,
    folder: str,
    what: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    order: list[str] = []
    status = 0

    def prepare(root: Path, log: object) -> list[str]:
        assert (root, log) == (tmp_path, quiet)
        order.append("FreeRTOS")
        return ["FREERTOS=there"]

    def fetch(root: Path, log: object) -> Path:
        assert (root, log) == (tmp_path, quiet)
        order.append("lwIP")
        return root

    def make(
        folder: Path, *arguments: str, what: str, log: object
    ) -> subprocess.CompletedProcess[str]:
        assert log is quiet
        order.append(f"{folder.relative_to(tmp_path)} {' '.join(arguments)}: {what}")
        return subprocess.CompletedProcess([], status, "the reason\n", "")

    monkeypatch.setattr(freertos, "prepare", prepare)
    monkeypatch.setattr(lwip, "fetch", fetch)
    monkeypatch.setattr(guest_web, "run_make", make)
    assert build(tmp_path, quiet) == tmp_path / "build" / image
    assert order == ["FreeRTOS", "lwIP", f"{folder} FREERTOS=there: {what}"]
    status = 2
    with pytest.raises(UserError, match=f"the reason\nBuilding {what} failed"):
        build(tmp_path, quiet)
