"""What long computations show: a progress bar in a terminal or in a notebook, and a live view of a simulation in a notebook."""

from __future__ import annotations

import base64
import html
import os
import re
import struct
import sys
import threading
import time
import zlib
from typing import Any, Callable, Iterable, Iterator, List, Optional, Tuple, TypeVar, Union

import numpy as np

from .errors import InputError

T = TypeVar("T")


def in_notebook() -> bool:
    """Whether this Python is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and hasattr(shell, "kernel")


class _Cell:
    """Output of a notebook's cell that is replaced, at most `most` times a second."""

    def __init__(self, most: float = 10.0) -> None:
        self._handle: Any = None
        self._between = 1 / most
        self._next = 0.0

    def due(self) -> bool:
        return time.monotonic() >= self._next

    def show(self, text: str) -> None:
        from IPython.display import HTML, display

        if self._handle is None:
            self._handle = display(HTML(text), display_id=True)
        else:
            self._handle.update(HTML(text))
        self._next = time.monotonic() + self._between


def _clock(seconds: float) -> str:
    """1:05:09, 3:25, 0:07."""
    whole = int(seconds)
    hours, minutes = whole // 3600, whole // 60 % 60
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"


class ProgressBar:
    """The share of a computation that is done, and the time left: one line of a terminal that is drawn again, or a bar in a notebook.
    Nothing is shown elsewhere, nor in the first half second.

    shown: True, False, or None: where standard error is a terminal, and in notebooks.
    """

    _patience = 0.5  # [s]

    def __init__(self, label: str = "", shown: Optional[bool] = None) -> None:
        self._label = label
        self._cell = _Cell() if in_notebook() and shown is not False else None
        terminal = sys.stderr is not None and sys.stderr.isatty() if shown is None else shown
        self._terminal = terminal and self._cell is None
        self._begin = time.monotonic()
        self._next = self._begin + (0.0 if shown else self._patience)
        self._drawn = False
        self._done: Optional[float] = None  # at the last update

    def update(self, done: Optional[float], note: str = "") -> None:
        """done: the share that is done, 0 to 1; None: not known. At most ten drawings a second."""
        now = time.monotonic()
        self._done = done
        if now < self._next or not (self._terminal or self._cell):
            return
        self._next = now + 0.1
        self._draw(done, note, now - self._begin)

    def _draw(self, done: Optional[float], note: str, seconds: float) -> None:
        self._drawn = True
        if done is None:
            text = _clock(seconds)
        else:
            done = min(max(done, 0.0), 1.0)
            left = _clock(seconds * (1 - done) / done) if done > 0 else "--:--"
            text = f"{100 * done:3.0f}%  {_clock(seconds)} of {_clock(seconds / done) if done > 0 else '--:--'}, {left} left"
        if self._cell is not None:
            value = "" if done is None else f" value='{done:.4f}'"
            words = "  ".join(part for part in (self._label, text, note) if part)
            self._cell.show(f"<progress max='1'{value} style='width:16em'></progress> {html.escape(words)}")
            return
        bar = "" if done is None else "[" + ("#" * round(24 * done)).ljust(24, ".") + "]"
        line = "  ".join(part for part in (self._label, bar, text, note) if part)
        sys.stderr.write(f"\r\033[K{line}")
        sys.stderr.flush()

    def close(self, done: Optional[float] = 1.0, note: str = "") -> None:
        """Wipes the line of a terminal; a notebook keeps the last state."""
        if not self._drawn:
            return
        if self._cell is not None:
            self._draw(done, note, time.monotonic() - self._begin)
        else:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, exception: Any, *_: Any) -> None:
        self.close(1.0 if exception is None else self._done)


def progress(items: Iterable[T], total: Optional[int] = None, label: str = "", shown: Optional[bool] = None) -> Iterator[T]:
    """Yields the items, of a chain for example, and shows how many there were of `total` (None: len(items), where it has one).

    >>> from kasane.lattice import quenched
    >>> [c.sweep for c in progress(quenched((4, 4, 4, 4), beta=6.0, sweeps=4, every=2), total=2)]
    [2, 4]
    """
    if total is None and hasattr(items, "__len__"):
        total = len(items)  # type: ignore[arg-type]
    bar = ProgressBar(label, shown)
    count = 0
    try:
        for item in items:
            yield item
            count += 1
            bar.update(count / total if total else None, f"{count} of {total}" if total else str(count))
    finally:
        bar.close(count / total if total else None, f"{count} of {total}" if total else str(count))


def png(pixels: np.ndarray) -> bytes:
    """A PNG file of an image [height, width, 3] of uint8."""
    height, width = pixels.shape[:2]

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = np.zeros((height, 1 + 3 * width), dtype=np.uint8)  # a filter byte, 0, before each row
    rows[:, 1:] = pixels.reshape(height, 3 * width)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows.tobytes(), 6)) + chunk(b"IEND", b"")


# Colours of a density: black, blue, violet, orange, white, at equal distances.
_COLOURS = np.array([(0, 0, 8), (38, 28, 110), (148, 44, 128), (246, 138, 60), (255, 255, 240)], dtype=float)


def density_image(position: np.ndarray, half_width: float, pixels: int, axes: Tuple[int, int] = (0, 1), centre: Any = (0.0, 0.0)) -> np.ndarray:
    """[pixels, pixels, 3] of uint8: the logarithm of the number of particles in each pixel of a square of 2 half_width."""
    x, y = (position[:, axis] - c for axis, c in zip(axes, centre))
    span = (-half_width, half_width)
    counts, _, _ = np.histogram2d(-y, x, bins=pixels, range=(span, span))
    level = np.log1p(counts)
    level *= (len(_COLOURS) - 1) / max(level.max(), 1e-300)
    low = np.minimum(level.astype(int), len(_COLOURS) - 2)
    part = (level - low)[..., None]
    return (_COLOURS[low] * (1 - part) + _COLOURS[low + 1] * part).round().astype(np.uint8)


class LiveView:
    """A picture of a simulation that a notebook replaces while it runs; a callback of Simulation.run():

        sim.run(until=2.0, callback=LiveView())

    half_width of the picture [length] (None: of 95% of the particles at the first call); pixels of its side; axes of the projection;
    per_second: most pictures in a second; select: function of the particles that gives the ones to draw, as a mask or indices. Outside a
    notebook it draws nothing; html() and write() give the picture there too.
    """

    def __init__(
        self,
        half_width: Optional[float] = None,
        pixels: int = 360,
        axes: str = "xy",
        per_second: float = 4.0,
        select: Optional[Callable[[Any], Any]] = None,
    ) -> None:
        if len(axes) != 2 or axes[0] == axes[1] or not set(axes) <= set("xyz"):
            raise InputError(f"is {axes!r}: two of x, y and z are expected", "axes")
        if half_width is not None and not half_width > 0:
            raise InputError(f"is {half_width}: it must be above 0", "half_width")
        if pixels < 1:
            raise InputError(f"is {pixels}: it must be at least 1", "pixels")
        if not per_second > 0:
            raise InputError(f"is {per_second}: it must be above 0", "per_second")
        self._half_width = half_width
        self._pixels = int(pixels)
        self._names = axes
        self._axes = ("xyz".index(axes[0]), "xyz".index(axes[1]))
        self._select = select
        self._cell = _Cell(per_second)
        self.pictures = 0  #: shown so far

    def __repr__(self) -> str:
        return f"LiveView(half_width={self._half_width}, pixels={self._pixels}, axes={self._names!r}, {self.pictures} pictures shown)"

    def _repr_html_(self) -> str:
        return f"<code>{html.escape(repr(self))}</code>"

    def image(self, simulation: Any) -> np.ndarray:
        """The picture, [pixels, pixels, 3] of uint8."""
        particles = simulation.particles
        position = particles.position
        if self._select is not None:
            position = position[self._select(particles)]
        centre = position[:, self._axes].mean(axis=0) if len(position) else np.zeros(2)
        if self._half_width is None:
            distance = np.abs(position[:, self._axes] - centre).max(axis=1) if len(position) else np.ones(1)
            self._half_width = float(1.5 * np.quantile(distance, 0.95)) or 1.0
        return density_image(position, self._half_width, self._pixels, self._axes, centre)

    def html(self, simulation: Any) -> str:
        """The picture with the time and, of a Simulation, the number of steps, for a page; a Snapshot has a picture too."""
        image = base64.b64encode(png(self.image(simulation))).decode()
        steps = f", {simulation.steps} steps" if hasattr(simulation, "steps") else ""
        words = f"t = {simulation.time:.6g}{steps}; {self._names} plane, {2 * (self._half_width or 0):.3g} wide"
        side = self._pixels
        return f"<figure style='margin:0'><img width='{side}' height='{side}' alt='particles' src='data:image/png;base64,{image}'>" + (
            f"<figcaption>{words}</figcaption></figure>"
        )

    def write(self, path: Union[str, os.PathLike], simulation: Any) -> None:
        """Writes the picture as a PNG file."""
        with open(path, "wb") as file:
            file.write(png(self.image(simulation)))

    def __call__(self, simulation: Any) -> None:
        if in_notebook() and self._cell.due():
            self._cell.show(self.html(simulation))
            self.pictures += 1


class TerminalInNotebook:
    """A pseudo-terminal for the standard error of a command, whose present line a notebook shows."""

    def __init__(self) -> None:
        import pty

        self._own, self.file = pty.openpty()
        self._cell = _Cell()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    @staticmethod
    def lines(text: str) -> List[str]:
        """The lines that a terminal would show: each without what was drawn over."""
        shown = (line.rsplit("\r\033[K", 1)[-1].rsplit("\r", 1)[-1] for line in text.replace("\r\n", "\n").split("\n"))
        return [line for line in shown if line.strip()]

    def _read(self) -> None:
        text = ""
        while True:
            try:
                data = os.read(self._own, 4096)
            except OSError:  # the command has closed its side
                data = b""
            if not data:
                break
            text = (text + data.decode("utf-8", "replace"))[-8192:]
            if self._cell.due():
                self._show(text)
        self._show(text)
        os.close(self._own)

    def _show(self, text: str) -> None:
        lines = [re.sub(r"\033\[[0-9;]*[A-Za-z]", "", line) for line in self.lines(text)]
        if lines:
            self._cell.show("<pre>" + html.escape("\n".join(lines[-4:])) + "</pre>")

    def close(self) -> None:
        """Waits for the last line."""
        os.close(self.file)
        self._thread.join()
