"""Policies of tasks that can only be solved by looking at a screenshot."""

import cmath
import math
import re

from page import Failed
from registry import policy

COLOURS = {
    "red": (255, 0, 0), "blue": (0, 0, 255), "olive": (128, 128, 0), "lime": (0, 255, 0), "black": (0, 0, 0), "white": (255, 255, 255),
    "grey": (128, 128, 128), "purple": (128, 0, 128), "orange": (255, 165, 0), "yellow": (255, 255, 0), "cyan": (0, 255, 255),
    "pink": (255, 192, 203), "magenta": (255, 0, 255), "green": (0, 128, 0), "aqua": (0, 255, 255),
}
SHAPE_COLOURS = ("red", "green", "blue", "aqua", "black", "magenta", "yellow")
WHITE = (255, 255, 255)
CELL = 20


def difference(one, other):
    """Returns how far two colours are from each other."""
    return sum(abs(left - right) for left, right in zip(one, other))


def centre(picture, node):
    """Returns the colour in the middle of a node."""
    return picture.at(int(node.x), int(node.y))


@policy("click-color")
def click_color(b):
    """Taps the box that has the named colour, or the colour of the patch in the task."""
    picture, nodes = b.picture(), b.nodes()
    name = re.search(r"Click on the (\w+) colored box", b.task)
    if name:
        wanted = COLOURS[name[1]]
    else:
        wanted = centre(picture, next(node for node in nodes if node.id == "query-color"))
    boxes = [node for node in nodes if "clk" in node.flags and node.width > 40 and node.top > 50]
    best = min(boxes, key=lambda node: difference(centre(picture, node), wanted))
    b.tap_at(best.x, best.y)


@policy("click-shades")
def click_shades(b):
    """Taps all boxes in a shade of red, green or blue."""
    (name,) = b.match(r"all the shades of (\w+)")
    channel = ("red", "green", "blue").index(name)
    picture = b.picture()
    for node in b.nodes():
        if "clk" in node.flags and node.width < 20 and node.top > 50:
            colour = centre(picture, node)
            if colour[channel] == max(colour) and colour.count(max(colour)) == 1:
                b.tap_at(node.x, node.y)
    b.submit()


class Item:
    """A letter, digit or shape in a grid."""

    def __init__(self, x, y, kind, name, colour, large):
        self.x, self.y, self.kind, self.name, self.colour, self.large = x, y, kind, name, colour, large

    def fits(self, words):
        """Returns whether a description such as ["small", "red", "item"] is about this item."""
        *adjectives, noun = words
        for word in adjectives:
            if word in ("small", "large"):
                if (word == "large") != self.large:
                    return False
            elif word != self.colour:
                return False
        return noun in ("item", self.kind, self.name)


def colour_of(colours):
    """Returns the name of the shape colour that pixels have, also if they are mixed with white at the edges."""
    dark = [sum(255 - colour[channel] for colour in colours) for channel in range(3)]

    def likeness(name):
        """Returns how well a colour explains the pixels."""
        other = [255 - channel for channel in COLOURS[name]]
        return sum(one * two for one, two in zip(dark, other)) / math.hypot(*other)

    return max(SHAPE_COLOURS, key=likeness)


def ink(picture, left, top, right, bottom):
    """Returns x, y and colour of the pixels of a rectangle that are not nearly white."""
    return [pixel for pixel in picture.pixels(left, top, right, bottom) if difference(pixel[2], WHITE) > 150]


def shape_name(points):
    """Returns the name of a filled shape: it is told from the share of its box that it fills."""
    xs, ys = [point[0] for point in points], [point[1] for point in points]
    share = len(points) / ((max(xs) - min(xs) + 1) * (max(ys) - min(ys) + 1))
    return "rectangle" if share > 0.9 else "circle" if share > 0.65 else "triangle"


def grid_items(b, svg):
    """Returns the items of a grid: texts as afd sees them, and shapes from a screenshot."""
    picture = b.picture()
    texts = [node for node in b.nodes() if node.kind == "StaticText" and len(node.text) == 1 and svg.top < node.y < svg.bottom]
    items, taken = [], set()
    for node in texts:
        colour = colour_of([pixel[2] for pixel in picture.pixels(node.left, node.top, node.right, node.bottom)])
        kind = "digit" if node.text.isdigit() else "letter"
        items.append(Item(node.x, node.y, kind, node.text, colour, node.height > 15))
        taken.add((int(node.x - svg.left) // CELL, int(node.y - svg.top) // CELL))
    for row in range(svg.height // CELL):
        for column in range(7):
            left, top = svg.left + column * CELL, svg.top + row * CELL
            points = ink(picture, left, top, left + CELL, top + CELL)
            if (column, row) not in taken and len(points) > 35:
                colour = colour_of([point[2] for point in points])
                middle = (left + CELL / 2, top + CELL / 2)
                items.append(Item(*middle, "shape", shape_name(points), colour, len(points) > 130))
    return items


def drawing(b):
    """Returns the node of the drawing area."""
    found = [node for node in b.nodes() if node.id == "area_svg"]
    if not found:
        raise Failed("no drawing area")
    return found[0]


@policy("click-shape")
def click_shape(b):
    """Taps an item that fits a description."""
    description = b.page.texts()[0].removeprefix("Click on a ")
    for item in grid_items(b, drawing(b)):
        if item.fits(description.split()):
            b.tap_at(item.x, item.y)
            return
    raise Failed(f"no {description}")


@policy("count-shape")
def count_shape(b):
    """Counts the items that fit a description."""
    (description,) = b.match(r"^How many (.*?)s are there\?")
    count = sum(item.fits(description.split()) for item in grid_items(b, drawing(b)))
    b.tap(b.page.all(label=str(count))[-1])


@policy("identify-shape")
def identify_shape(b):
    """Names what is drawn."""
    texts = [element.label for element in b.page.elements if len(element.label) == 1]
    if texts:
        b.tap("Number" if texts[0].isdigit() else "Letter")
        return
    buttons = min(node.top for node in b.nodes() if node.kind == "button")
    points = ink(b.picture(), 2, 52, 158, buttons)
    b.tap(shape_name(points).capitalize())


@policy("count-sides")
def count_sides(b):
    """Counts the corners of a polygon: its outline, as a function of the angle, has as many waves."""
    picture = b.picture()
    points = [pixel for pixel in picture.pixels(2, 52, 152, 152) if difference(pixel[2], WHITE) > 380]
    x = sum(point[0] for point in points) / len(points)
    y = sum(point[1] for point in points) / len(points)
    farthest = [0.0] * 180
    for point in points:
        angle = int(math.atan2(point[1] - y, point[0] - x) / math.tau * 180) % 180
        farthest[angle] = max(farthest[angle], math.hypot(point[0] - x, point[1] - y))
    strength = {
        sides: abs(sum(radius * cmath.exp(2j * math.pi * sides * index / 180) for index, radius in enumerate(farthest)))
        for sides in range(3, 8)
    }
    b.tap(str(max(strength, key=strength.get)))


@policy("visual-addition")
def visual_addition(b):
    """Counts blocks."""
    blue = {(x, y) for x, y, colour in b.picture().pixels(0, 50, 160, 170) if difference(colour, (127, 176, 255)) < 70}
    count = 0
    while blue:
        count += 1
        rest = [blue.pop()]
        while rest:
            x, y = rest.pop()
            for place in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)):
                if place in blue:
                    blue.remove(place)
                    rest.append(place)
    b.fill(b.page.fields()[0], str(count))
    b.submit()


@policy("number-checkboxes")
def number_checkboxes(b):
    """Checks the boxes whose places are white in the example."""
    example = next(node for node in b.nodes() if node.kind == "complementary")
    picture = b.picture()
    points = [pixel for pixel in picture.pixels(example.left, example.top, 158, example.bottom) if difference(pixel[2], WHITE) > 300]
    left, right = min(point[0] for point in points), max(point[0] for point in points)
    top, bottom = min(point[1] for point in points), max(point[1] for point in points)
    for index, box in enumerate(b.page.boxes()[:28]):
        row, column = divmod(index, 4)
        x = left + (column + 0.5) * (right - left) / 4
        y = top + (row + 0.5) * (bottom - top) / 7
        if difference(picture.at(int(x), int(y)), WHITE) < 60:
            b.tap(box)
    b.submit()


def is_blue(colour):
    """Returns whether a pixel belongs to a blue dot."""
    return colour[2] - colour[0] > 70 and colour[0] + colour[1] < 150


def is_black(colour):
    """Returns whether a pixel belongs to a black dot."""
    return sum(colour) < 250 and not is_blue(colour)


def dots(picture, wanted):
    """Returns the centres of the dots of 7 pixels width whose pixels are `wanted`."""
    near = {(x, y) for x, y, colour in picture.pixels(0, 52, 160, 182) if wanted(colour)}
    cores = {(x, y) for x, y in near if all({(x + i, y), (x, y + i)} <= near for i in range(-2, 3))}
    found = []
    while cores:
        first = min(cores)
        group = {core for core in cores if math.dist(core, first) < 8}
        cores -= group
        found.append((sum(core[0] for core in group) / len(group), sum(core[1] for core in group) / len(group)))
    return [(round(x + 0.5), round(y + 0.5)) for x, y in found]


def angle(one, vertex, other):
    """Returns the angle at `vertex` in degrees."""
    first = math.atan2(one[1] - vertex[1], one[0] - vertex[0])
    second = math.atan2(other[1] - vertex[1], other[0] - vertex[0])
    turn = abs(math.degrees(first - second)) % 360
    return min(turn, 360 - turn)


def points_around():
    """Yields the points of a drawing on which it is safe to tap."""
    for y in range(56, 178):
        for x in range(6, 150):
            yield x, y


@policy("bisect-angle")
def bisect_angle(b):
    """Taps the point that divides an angle best."""
    picture = b.picture()
    (vertex,) = dots(picture, is_blue)
    one, other = dots(picture, is_black)
    total = angle(one, vertex, other)

    def fault(point):
        """Returns by how much the larger part exceeds one half, if this point is tapped."""
        place = (point[0] + 2, point[1] + 2)
        return max(angle(one, vertex, place), angle(other, vertex, place)) - total / 2

    far = [point for point in points_around() if math.dist(point, vertex) > 20]
    b.tap_at(*min(far, key=lambda point: abs(fault(point))))
    b.submit()


@policy("right-angle")
def right_angle(b):
    """Taps a point that makes a right angle with a line."""
    picture = b.picture()
    (vertex,) = dots(picture, is_blue)
    (end,) = dots(picture, is_black)

    def fault(point):
        """Returns by how much the angle differs from a right angle, if this point is tapped."""
        return abs(angle(end, vertex, (point[0] + 2.5, point[1] + 2.5)) - 90)

    far = [point for point in points_around() if math.dist(point, vertex) > 25]
    b.tap_at(*min(far, key=fault))
    b.submit()


LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))


@policy("tic-tac-toe")
def tic_tac_toe(b):
    """Plays with X until the game is over."""
    fields = [next(node for node in b.nodes() if node.id == f"ttt-{index}") for index in range(9)]
    for _ in range(5):
        board = read_board(b.picture(), fields)
        move = best_move(board)
        if move is None:
            return
        b.tap_at(fields[move].x, fields[move].y, then=True)
        if b.page.find("START"):
            return


def read_board(picture, fields):
    """Returns the nine marks: "X", "O" or a space. Only an X has ink in its middle."""
    board = []
    for node in fields:
        dark = [pixel for pixel in picture.pixels(node.left + 4, node.top + 4, node.right - 4, node.bottom - 4) if sum(pixel[2]) < 450]
        middle = sum(picture.at(int(node.x), int(node.y))) < 450
        board.append("X" if middle else "O" if len(dark) > 20 else " ")
    return board


def finishing(board, mark):
    """Returns the places with which `mark` would complete a line."""
    lines = [[board[place] for place in line] for line in LINES]
    pairs = zip(LINES, lines)
    return [line[marks.index(" ")] for line, marks in pairs if marks.count(mark) == 2 and " " in marks]


def placed(board, place, mark):
    """Returns the board with one more mark."""
    return board[:place] + [mark] + board[place + 1 :]


def chance(board, mark):
    """Returns the chance of X to win, if X plays well, and O plays at random in about half of its moves."""
    if any(all(board[place] == "X" for place in line) for line in LINES):
        return 1.0
    free = [place for place in range(9) if board[place] == " "]
    if not free or any(all(board[place] == "O" for place in line) for line in LINES):
        return 0.0
    if mark == "X":
        return max(chance(placed(board, place, "X"), "O") for place in free)
    clever = finishing(board, "O") or finishing(board, "X") or free
    value = {place: chance(placed(board, place, "O"), "X") for place in free}
    return 0.55 * sum(value.values()) / len(free) + 0.45 * sum(value[place] for place in clever) / len(clever)


def best_move(board):
    """Returns the free place with the best chance, or None."""
    if board.count(" ") == 9:
        return 4
    free = [place for place in range(9) if board[place] == " "]
    moves = {place: chance(placed(board, place, "X"), "O") for place in free}
    return max(moves, key=moves.get) if moves else None
