"""Policies of tasks in which something is dragged, or the mouse only moves."""

import math
import re

from page import Failed
from policies_pictures import colour_of, difference, ink, shape_name
from registry import policy

STEPS = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}
WHITE = (255, 255, 255)


@policy("click-menu")
def click_menu(b):
    """Opens a menu by pointing at its items, and taps an item of the last submenu."""
    (path,) = b.match(r"^Select (\S+)")
    *parents, last = path.split(">")
    for item in parents:
        b.look_for(item)
        b.tap(item, verb="hover", then=True)
    b.tap(b.look_for(last))


@policy("click-menu-2")
def click_menu_2(b):
    """Opens a menu and taps an item, which may be in a submenu, and which may be given as a picture."""
    name = re.search(r'labeled " ?(.*?) ?"', b.page.texts()[0])
    b.tap("Menu", then=True)
    if not name or not b.page.find(name[1]):
        b.tap("Playback", verb="hover", then=True)
        b.look_for("Prev")
    b.tap(name[1] if name else item_with_icon(b))


def item_with_icon(b):
    """Returns the label of the item of the open menu whose icon is most like a place in the task."""
    picture = b.picture()
    nodes = [node for node in b.nodes() if node.kind == "menuitem" and node.text not in ("Playback", "Print...")]
    return max(nodes, key=lambda node: icon_likeness(picture, node)).text


def icon_likeness(picture, node):
    """Returns how much the icon at the left of a menu item is like some place in the task, from 0 to 1."""
    left = next((x for x in range(node.left, node.left + 20) if column(picture, x, node)), None)
    if left is None:
        return 0
    spots = dark_spots(picture, left, node.top + 1, left + 16, node.bottom - 1)
    if not spots:
        return 0
    top = min(y for _, y in spots)
    mask = {(x - left, y - top) for x, y in spots}
    width, height = max(x for x, _ in mask) + 1, max(y for _, y in mask) + 1
    task = dark_spots(picture, 0, 0, 160, 48)
    scores = [0.0]
    for y in range(0, 46 - height):
        for x in range(0, 160 - width):
            here = {(i, j) for i in range(width) for j in range(height) if (x + i, y + j) in task}
            scores.append(len(mask & here) / len(mask | here))
    return max(scores)


def column(picture, x, node):
    """Returns whether there is ink in a column of a menu item."""
    return any(sum(picture.at(x, y)) < 500 for y in range(node.top + 2, node.bottom - 2))


def dark_spots(picture, left, top, right, bottom):
    """Returns the places of the dark pixels of a rectangle."""
    return {(x, y) for x, y, colour in picture.pixels(left, top, right, bottom) if colour[0] + colour[1] < 330}


@policy("drag-box")
def drag_box(b):
    """Drags the small box into the large one, from a point that the large one does not cover."""
    nodes = b.nodes()
    small = next(node for node in nodes if node.id == "draggableSmall")
    large = next(node for node in nodes if node.id == "draggableLarge")
    shifts = [(0, 0), (-9, -9), (9, -9), (-9, 9), (9, 9)]
    free = [shift for shift in shifts if not inside(small.x + shift[0], small.y + shift[1], large)]
    for x, y in free[:1]:
        b.act("drag", x=small.x + x, y=small.y + y, toX=large.x + x, toY=large.y + y)
    b.submit()


def inside(x, y, node):
    """Returns whether a point is in the bounds of a node."""
    return node.left <= x <= node.right and node.top <= y <= node.bottom


@policy("drag-circle", "drag-single-shape")
def drag_single(b):
    """Drags the only shape in a direction."""
    (direction,) = b.match(r"^Drag the \w+ (\w+) then")
    step = STEPS[direction]
    shape = next(node for node in b.nodes() if "clk" in node.flags and node.kind != "button")
    b.act("drag", x=shape.x, y=shape.y, toX=shape.x + 40 * step[0], toY=shape.y + 40 * step[1])
    b.submit()


def names_below(b):
    """Returns the texts of a list that can be sorted."""
    return [node for node in b.nodes() if node.kind == "StaticText" and node.top > 50 and node.left < 160]


def drag_onto(b, source, target):
    """Drags an item of a list a little beyond the middle of the one whose place it takes."""
    beyond = 6 if target.y > source.y else -6 if target.y < source.y else 0
    b.act("drag", x=source.x, y=source.y, toX=source.x, toY=target.y + beyond)


@policy("drag-items")
def drag_items(b):
    """Drags an item of a list to another position."""
    name, where = b.match(r"^Drag (\S+) (to the .*?|up|down)( by one position| position)?\.")[:2]
    items = names_below(b)
    place = next(index for index, item in enumerate(items) if item.text == name)
    number = re.search(r"\d", where)
    if number:
        target = int(number[0]) - 1
    else:
        target = {"to the top": 0, "to the bottom": 4, "up": place - 1, "down": place + 1}[where]
    drag_onto(b, items[place], items[target])


@policy("drag-items-grid")
def drag_items_grid(b):
    """Drags an item of a grid to another cell."""
    name, where = b.match(r"^Drag (\S+) (to the .*?|\w+ by one)\.")
    items = names_below(b)
    place = next(index for index, item in enumerate(items) if item.text == name)
    row, line = divmod(place, 3)
    if where.endswith("by one"):
        step = STEPS[where.split()[0]]
        row, line = row + step[1], line + step[0]
    else:
        row = 0 if "top" in where else 2 if "bottom" in where else 1
        line = 0 if "left" in where else 2 if "right" in where else 1
    source, target = items[place], items[row * 3 + line]
    x = target.left + (24 if target.left > source.left + 9 else 4 if target.left < source.left - 9 else source.x - source.left)
    y = target.y + (18 if target.y > source.y else 0)
    b.act("drag", x=source.x, y=source.y, toX=x, toY=y)


@policy("drag-sort-numbers")
def drag_sort_numbers(b):
    """Sorts a list by dragging the smallest of the rest up."""
    for place in range(3):
        items = [node for node in names_below(b) if re.fullmatch(r"-?\d+", node.text)]
        smallest = min(items[place:], key=lambda node: int(node.text))
        if smallest is not items[place]:
            drag_onto(b, smallest, items[place])
    b.submit()


def boxes(picture):
    """Returns left, top, right and bottom of the black frames in a drawing, from left to right."""
    found = []
    for y in range(52, 182):
        run = 0
        for x in range(0, 161):
            if x < 160 and sum(picture.at(x, y)) < 300:
                run += 1
                continue
            if run > 60:
                add_line(found, x - run, x, y)
            run = 0
    return sorted(tuple(box) for box in found if box[3] - box[1] > 30)


def add_line(found, left, right, y):
    """Adds a horizontal line to the frame that it belongs to, or begins a frame."""
    for box in found:
        if abs(box[0] - left) < 4 and abs(box[2] - right) < 4:
            box[3] = y
            return
    found.append([left, y, right, y])


def look_of(picture, node):
    """Returns the name and the colour of a shape."""
    points = ink(picture, node.left, node.top, node.right, node.bottom)
    return shape_name(points), colour_of([point[2] for point in points])


def shapes(b):
    """Returns the nodes of the shapes that can be dragged."""
    return [node for node in b.nodes() if "clk" in node.flags and node.kind != "button" and node.width < 30 and node.top > 50]


def drop(b, node, box):
    """Drags a shape to the middle of a frame."""
    b.act("drag", x=node.x, y=node.y + 2, toX=(box[0] + box[2]) / 2, toY=(box[1] + box[3]) / 2)


@policy("drag-shapes")
def drag_shapes(b):
    """Drags the shapes of a kind into a frame."""
    (kind,) = b.match(r"^Drag all (\w+)s into")
    picture = b.picture()
    (box,) = boxes(picture)
    for node in shapes(b):
        if look_of(picture, node)[0] == kind:
            drop(b, node, box)
    b.submit()


@policy("drag-shapes-2")
def drag_shapes_2(b):
    """Drags the shapes of a kind or colour into the left frame, and the others into the right frame."""
    (what,) = b.match(r"^Drag all (\w+?)s? ")
    picture = b.picture()
    left, right = boxes(picture)
    for node in shapes(b):
        drop(b, node, left if what in look_of(picture, node) else right)
    b.submit()


@policy("draw-line")
def draw_line(b):
    """Draws a horizontal or vertical line through a dot."""
    (direction,) = b.match(r"^Draw a (\w+) line")
    area = next(node for node in b.nodes() if node.kind == "image")
    points = ink(b.picture(), area.left + 4, area.top + 4, area.right - 4, area.bottom - 4)
    x = sum(point[0] for point in points) / len(points)
    y = sum(point[1] for point in points) / len(points)
    if direction == "vertical":
        b.act("drag", x=x, y=area.top + 6, toX=x, toY=area.bottom - 6)
    else:
        b.act("drag", x=area.left + 6, y=y, toX=area.right - 6, toY=y)
    b.submit()


@policy("resize-textarea")
def resize_textarea(b):
    """Drags the corner of a field."""
    what, size = b.match(r"so that the (\w+) is (\w+) than")
    box = next(node for node in b.nodes() if node.kind == "textbox")
    step = 20 if size == "larger" else -20
    x, y = box.right - 3, box.bottom - 3
    b.act("drag", x=x, y=y, toX=x + step * (what == "width"), toY=y + step * (what == "height"))
    b.submit()


@policy("highlight-text")
def highlight_text(b):
    """Selects a paragraph."""
    select(b, [node for node in b.nodes() if node.kind == "StaticText" and node.top > 50][0])
    b.submit()


@policy("highlight-text-2")
def highlight_text_2(b):
    """Selects one of three paragraphs."""
    (number,) = b.match(r"in the (\d)\w\w paragraph")
    select(b, [node for node in b.nodes() if node.kind == "StaticText" and node.top > 50][int(number) - 1])
    b.submit()


def select(b, node):
    """Selects a text by dragging from its first to its last line."""
    b.act("drag", x=node.left - 1, y=node.top + 4, toX=158, toY=node.bottom - 4)


@policy("hot-cold")
def hot_cold(b):
    """Moves the mouse over an area until the hot spot is found, and taps there."""
    area = next(node for node in b.nodes() if node.id == "touch-area")
    spots = [(x, y) for x in range(5, 156) for y in range(55, 171)]
    limits = {"HOT": (0, 5), "WARM": (5, 10), "COLD": (10, 40), "ICE COLD": (40, 999)}
    x, y = int(area.x), int(area.y)
    for _ in range(40):
        b.tap_at(x, y, verb="hover", then=True)
        heat = next(text for text in reversed(b.page.texts()) if text in limits)
        if heat == "HOT":
            b.tap_at(x, y)
            return
        low, high = limits[heat]
        spots = [spot for spot in spots if low <= math.dist(spot, (x, y)) < high]
        if not spots:
            break
        x, y = best_probe(spots, 40 if len(spots) > 1200 else 10)
    raise Failed("no hot spot")


def best_probe(spots, radius):
    """Returns the spot that divides the possible spots best into those nearer than `radius` and the others."""
    some = spots[:: max(1, len(spots) // 150)]
    return min(some, key=lambda spot: abs(sum(math.dist(spot, other) < radius for other in some) - len(some) / 2))


@policy("text-editor")
def text_editor(b):
    """Selects a word or everything in an editor, and gives it a style or a colour."""
    task = b.page.texts()[0]
    single = re.search(r"give the text (\S+) the", task)
    style = re.search(r"the style (\w+)", task)
    editor = next(node for node in b.nodes() if "edt" in node.flags and node.left > 0)
    words = editor_words(b.picture(), editor)
    index = editor.text.split().index(single[1]) if single else 0
    first, last = words[index], words[index if single else -1]
    b.act("drag", x=first[0] - 1, y=first[1], toX=last[2] + 2, toY=last[1], then=True)
    if style:
        b.tap(b.page.by_id({"bold": "ql-bold", "italics": "ql-italic", "underlined": "ql-underline"}[style[1]]))
    else:
        choose_colour(b, re.search(r"the color (\w+)", task)[1])
    b.submit()


def editor_words(picture, editor):
    """Returns left, middle height and right of each word in an editor, told from the gaps between the words."""
    count = len(editor.text.split())
    inner = (editor.left + 8, editor.top + 8, editor.right - 8, editor.bottom - 4)
    dark = {(x, y) for x, y, colour in picture.pixels(*inner) if sum(colour) < 450}
    for gap in (4, 3, 5, 2):
        words = []
        for top in range(editor.top + 11, editor.bottom - 20, 18):
            xs = sorted({x for x, y in dark if top <= y < top + 18})
            starts = [x for x, before in zip(xs, [-99] + xs) if x - before > gap]
            words += [(start, top + 9, max(x for x in xs if x < after)) for start, after in zip(starts, starts[1:] + [999])]
        if len(words) == count:
            return words
    raise Failed("the words cannot be told apart")


def choose_colour(b, name):
    """Opens the palette of the editor and taps a full colour."""
    wanted = {"red": (230, 0, 0), "orange": (255, 153, 0), "yellow": (255, 255, 0), "green": (0, 138, 0), "blue": (0, 102, 204)}
    wanted["purple"] = (153, 51, 255)
    b.tap(b.page.by_id("ql-picker-label"), then=True)
    picture = b.picture()
    items = [node for node in b.nodes() if node.id == "ql-picker-item" and "on" in node.flags]
    best = min(items, key=lambda node: difference(picture.at(int(node.x), int(node.y)), wanted[name]))
    b.tap_at(best.x, best.y)


@policy("drag-cube")
def drag_cube(b):
    """Turns a cube until the wanted side is in front."""
    (wanted,) = b.match(r'so that " ?(\d) ?" is the active')
    for _ in range(40):
        front = front_side(b)
        if front == wanted and front_side(b) == wanted:
            b.submit()
            return
        if wanted in "16" or (front and front in "16"):
            b.act("drag", x=15, y=120, toX=15, toY=165, durationMs=300, then=True)
        else:
            b.act("drag", x=15, y=165, toX=60, toY=165, durationMs=300, then=True)
    raise Failed("the side does not come to the front")


def front_side(b):
    """Returns the number of the side that is written in red, or None."""
    picture = b.picture()
    red = [(x, y) for x, y, colour in picture.pixels(0, 52, 160, 178) if colour[0] > 180 and colour[1] + colour[2] < 150]
    if not red:
        return None
    x, y = sum(point[0] for point in red) / len(red), sum(point[1] for point in red) / len(red)
    sides = [node for node in b.nodes() if re.fullmatch("[1-6]", node.text) and node.top > 47]
    spread = len({point[0] for point in red})
    return min(sides, key=lambda node: abs(node.x - x) + abs(node.y - y) + abs(node.width * 0.6 - spread) / 4).text


@policy("daily-calendar")
def daily_calendar(b):
    """Creates an event by dragging over free half hours, and gives it a name."""
    length, unit, name, start, half = b.match(r'Create a ([\d.]+) (hours?|mins) event named "(\w+)", between (\d+)([AP]M)')
    count = round(float(length) / 30) if unit == "mins" else round(float(length) * 2)
    first = (int(start) % 12 + (12 if half == "PM" else 0)) * 2
    cells = free_cells(b, first, count)
    b.act("drag", x=cells[0].x, y=cells[0].y - 4, toX=cells[-1].x, toY=cells[-1].y + 4, then=True)
    b.fill("Event name", name)
    b.tap("Create")


def free_cells(b, first, count):
    """Scrolls until `count` half hours in a row, from the half hour `first` or later, are in sight and free, and returns them."""
    for _ in range(12):
        picture, nodes = b.picture(), b.nodes()
        cells = {int(node.id[3:]): node for node in nodes if re.fullmatch(r"hh-\d+", node.id)}
        shown = {index: node for index, node in cells.items() if node.top > 53 and node.bottom < 200}
        for start in range(first, first + 9 - count):
            run = [shown.get(index) for index in range(start, start + count)]
            if all(node and difference(picture.at(int(node.x), int(node.y)), WHITE) < 40 for node in run):
                return run
        b.wheel(80, 190, min(180, max(20, cells[first].top - 60)))
        b.look(1000)
    raise Failed("no free time")
