// JavaScript of the player: plays the film on its canvases and moves the line that marks its time in every plot. It fetches nothing.
#include <kasane/report/player.hpp>

namespace kasane::report {

const char* const player_script = R"js(
(() => {
  "use strict";
  document.documentElement.classList.add("js");
  const node = id => document.getElementById(id);
  const data = node("film-data");
  if (!data) return;
  const film = JSON.parse(data.textContent);
  const canvases = [...document.querySelectorAll(".screen canvas")], play = node("play"), seek = node("seek"), clock = node("clock");
  const load = base64 => {
    if (!base64) return null;
    const image = new Image();
    image.src = "data:image/png;base64," + base64;
    return image;
  };
  const pictures = film.views.map(view => view.map(layers => layers.map(load)));
  const last = film.times.length - 1;
  let frame = seek ? Number(seek.value) : 0, playing = false, due = 0;

  const plots = [...document.querySelectorAll("svg.plot")].map(svg => ({
    line: svg.querySelector(".now"), x0: +svg.dataset.x0, x1: +svg.dataset.x1, left: +svg.dataset.left, right: +svg.dataset.right }));
  const mark = time => plots.forEach(p => {
    const share = (time - p.x0) / (p.x1 - p.x0);
    p.line.classList.toggle("shown", last > 0 && share >= -1e-6 && share <= 1 + 1e-6);
    const x = p.left + (p.right - p.left) * share;
    p.line.setAttribute("x1", x);
    p.line.setAttribute("x2", x);
  });

  const draw = (canvas, view) => {
    const [light, tint] = pictures[view][frame], pen = canvas.getContext("2d");
    for (const image of [light, tint])
      if (image && !image.complete) { image.onload = () => draw(canvas, view); return; }
    pen.globalCompositeOperation = "copy";
    pen.drawImage(light, 0, 0);
    if (tint) {
      pen.globalCompositeOperation = "multiply";
      pen.imageSmoothingQuality = "high";
      pen.drawImage(tint, 0, 0, canvas.width, canvas.height);
    }
  };
  const show = index => {
    frame = Math.max(0, Math.min(last, index));
    clock.textContent = film.labels[frame];
    if (seek) {
      seek.value = frame;
      seek.setAttribute("aria-valuetext", film.labels[frame]);
    }
    mark(film.times[frame]);
    canvases.forEach(draw);
  };

  const step = now => {
    if (!playing) return;
    if (now >= due) {
      show(frame === last ? 0 : frame + 1);
      due = now + (frame === last ? 1800 : 1000 / 14);
    }
    requestAnimationFrame(step);
  };
  const set_playing = on => {
    playing = on && last > 0;
    if (play) {
      play.classList.toggle("playing", playing);
      play.setAttribute("aria-label", playing ? "Pause" : "Play");
    }
    if (playing) { due = 0; requestAnimationFrame(step); }
  };

  if (play) play.addEventListener("click", () => set_playing(!playing));
  if (seek) seek.addEventListener("input", () => { set_playing(false); show(Number(seek.value)); });
  canvases.forEach(canvas => canvas.addEventListener("click", () => set_playing(!playing)));
  node("player").addEventListener("keydown", event => {
    if (event.key !== " " || event.target.closest("button")) return;
    event.preventDefault();
    set_playing(!playing);
  });
  document.querySelectorAll(".stills button").forEach(button => button.addEventListener("click", () => {
    set_playing(false);
    show(Number(button.dataset.frame));
    node("player").scrollIntoView({ block: "nearest" });
  }));

  show(frame);
  if (!matchMedia("(prefers-reduced-motion: reduce)").matches) set_playing(true);
})();
)js";

}  // namespace kasane::report
