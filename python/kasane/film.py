"""Films of runs, as mp4 by ffmpeg or as gif by Pillow or ffmpeg, where these are installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Iterable, Iterator, List, Union

import numpy as np

from .errors import ComputationError, InputError


def _by_pillow(path: str, pictures: Iterator[np.ndarray], per_second: float) -> None:
    from PIL import Image  # type: ignore[import-not-found,import-untyped,unused-ignore]

    images = [Image.fromarray(picture) for picture in pictures]
    images[0].save(path, format="GIF", save_all=True, append_images=images[1:], duration=round(1000 / per_second), loop=0)


def _by_ffmpeg(ffmpeg: str, path: str, pictures: Iterator[np.ndarray], per_second: float) -> None:
    first = next(pictures)
    height, width = first.shape[:2]
    words: List[str] = [ffmpeg, "-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", str(per_second), "-i", "-"]
    if path.endswith(".mp4"):  # players want even sides and this order of colours
        words += ["-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p"]
    process = subprocess.Popen([*words, path], stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdin is not None and process.stderr is not None
    try:
        process.stdin.write(first.tobytes())
        for picture in pictures:
            process.stdin.write(picture.tobytes())
        process.stdin.close()
    except BrokenPipeError:  # ffmpeg says why
        pass
    said = process.stderr.read().decode("utf-8", "replace").strip()
    if process.wait() != 0:
        raise ComputationError(f"ffmpeg ended with status {process.returncode}: {said}")


def write_film(path: Union[str, os.PathLike], pictures: Iterable[np.ndarray], per_second: float = 12.0) -> Path:
    """Writes pictures [height, width, 3] of uint8, all of one size, as a film; the suffix says how: .mp4 or .gif. The file appears complete or
    not at all. Raises InputError where no encoder for it is installed."""
    target = Path(path)
    if target.suffix not in (".mp4", ".gif"):
        raise InputError(f"is {target.name!r}: a name that ends with .mp4 or .gif is expected", "path")
    if not per_second > 0:
        raise InputError(f"is {per_second}: it must be above 0", "per_second")
    ffmpeg = shutil.which("ffmpeg")
    try:
        import PIL  # type: ignore[import-not-found,import-untyped,unused-ignore]  # noqa: F401

        pillow = target.suffix == ".gif"
    except ImportError:
        pillow = False
    if not pillow and ffmpeg is None:
        needed = "ffmpeg" if target.suffix == ".mp4" else "Pillow (pip install pillow) or ffmpeg"
        raise InputError(f"is {target.name!r}, and no encoder for it is installed: install {needed}", "path")
    with tempfile.TemporaryDirectory(prefix=".film-", dir=target.parent) as directory:
        made = os.path.join(directory, target.name)
        if pillow:
            _by_pillow(made, iter(pictures), per_second)
        else:
            _by_ffmpeg(str(ffmpeg), made, iter(pictures), per_second)
        os.replace(made, target)
    return target
