"""Policies of tasks with things that move or blink, which are watched in a series of screenshots."""

import math
import time

from page import Failed
from registry import policy


@policy("simon-says")
def simon_says(b):
    """Watches which buttons light up, and taps them in the same order."""
    buttons = [next(node for node in b.nodes() if node.id == f"button-{number}") for number in range(1, 5)]
    bottom = buttons[3].bottom
    dull = None
    order, lit, last = [], None, time.monotonic()
    while time.monotonic() - last < (2.0 if not order else 1.1):
        picture = b.picture(160, bottom, max_dim=400)
        light = [sum(picture.at(int(node.x * picture.scale), int(node.y * picture.scale))) for node in buttons]
        dull = light if dull is None else [min(pair) for pair in zip(dull, light)]
        now = next((index for index in range(4) if light[index] > dull[index] + 60), None)
        if now is not None and lit is None:
            order.append(now)
        if now is not None:
            last = time.monotonic()
        lit = now
    for index in order:
        b.tap_at(buttons[index].x, buttons[index].y)


@policy("moving-items")
def moving_items(b):
    """Taps circles that cross the page, a little ahead of where they were seen last."""
    end = time.monotonic() + 11
    before, taken = [], time.monotonic()
    while time.monotonic() < end:
        start = time.monotonic()
        picture = b.picture(160, 212, max_dim=400)
        if sum(picture.at(3, 3)) < 100:
            return
        circles = black_circles(picture)
        target = aim(circles, before, start - taken)
        if target:
            b.tap_at(*target)
        before, taken = circles, start
    raise Failed("the episode did not end")


def black_circles(picture):
    """Returns the middles of the dark circles of 36 pixels width, also of those that are not wholly in sight."""
    scale = picture.scale
    rows, columns = range(int(53 * scale), int(209 * scale)), range(picture.width)
    dark = {(x, y) for y in rows for x in columns if sum(picture.at(x, y)) < 200}
    found = []
    while dark:
        group, rest = set(), [dark.pop()]
        while rest:
            x, y = rest.pop()
            group.add((x, y))
            for place in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)):
                if place in dark:
                    dark.remove(place)
                    rest.append(place)
        if 400 < len(group) / scale**2 < 1300:
            middle = (sum(place[0] for place in group) / len(group), sum(place[1] for place in group) / len(group))
            found.append((middle[0] / scale, middle[1] / scale))
    return found


def aim(circles, before, passed):
    """Returns where to tap so that a circle is hit that was also seen `passed` seconds before, or None."""
    for x, y in circles:
        old = min(before, key=lambda circle: math.dist(circle, (x, y)), default=None)
        if old and math.dist(old, (x, y)) < 40 and passed > 0:
            ahead = 0.12 / passed
            return max(4, min(156, x + (x - old[0]) * ahead)), max(56, min(206, y + (y - old[1]) * ahead))
    return None
