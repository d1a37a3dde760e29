"""Policies of tasks with sliders, menus with pictures, long texts and other controls."""

import re
import time

from page import Failed
from registry import policy

COLOURS = {
    "black": "000000", "white": "FFFFFF", "aqua": "00FFFF", "blue": "0000FF", "gray": "808080", "green": "008000", "lime": "00FF00",
    "maroon": "800000", "navy": "000080", "olive": "808000", "purple": "800080", "red": "FF0000", "silver": "C0C0C0", "teal": "008080",
    "yellow": "FFFF00", "pink": "FFC0CB", "magenta": "FF00FF", "gold": "FFD700", "orange": "FFA500",
}


@policy("use-slider")
def use_slider(b):
    """Sets a slider."""
    (value,) = b.match(r"^Select (-?\d+) with the slider")
    set_slider(b, "slider", int(value))
    b.submit()


@policy("use-slider-2")
def use_slider_2(b):
    """Sets three sliders."""
    values = b.match(r"combination \[(\d+),(\d+),(\d+)\]")
    for number, value in enumerate(values, 1):
        set_slider(b, f"slider-{number}", int(value))
    b.submit()


@policy("form-sequence")
def form_sequence(b):
    """Sets a slider and checks a box."""
    value, box = b.match(r"^Select (-?\d+) with the slider, click the (\d)")
    set_slider(b, "slider", int(value))
    b.tap(b.page.boxes()[int(box) - 1])
    b.submit()


def set_slider(b, name, value):
    """Taps a slider at about the right place, and moves it to `value` with the arrow keys."""
    bounds, _ = read_slider(b, name)
    b.tap_at(bounds.x, bounds.y)
    b.key("end")
    _, high = read_slider(b, name)
    b.key("home")
    _, low = read_slider(b, name)
    share = (value - low) / max(high - low, 1)
    if bounds.width > bounds.height:
        b.tap_at(bounds.left + 1 + share * (bounds.width - 2), bounds.y)
    else:
        b.tap_at(bounds.x, bounds.bottom - 1 - share * (bounds.height - 2))
    missing = value - read_slider(b, name)[1]
    b.key("right" if missing > 0 else "left", abs(missing))


def read_slider(b, name):
    """Returns the node of the slider with the id `name`, and the number that is written after it."""
    nodes = b.nodes()
    place = next(index for index, node in enumerate(nodes) if node.id == name)
    return nodes[place], next(int(node.text) for node in nodes[place:] if re.fullmatch(r"-?\d+", node.text))


@policy("use-spinner")
def use_spinner(b):
    """Sets a number with the arrow keys."""
    (value,) = b.match(r"^Select (-?\d+) with the spinner")
    b.tap(b.page.fields()[0])
    b.key("up" if int(value) > 0 else "down", abs(int(value)))
    b.submit()


@policy("use-autocomplete", "use-autocomplete-nodelay")
def use_autocomplete(b):
    """Types the beginning of a word, and chooses a suggestion that ends in the right way."""
    start, end = b.match(r'starts with " ?(.*?) ?"(?: and ends with " ?(.*?) ?")?\.')
    b.tap(b.page.fields()[0])
    b.act("text", then=True, text=start)
    limit = time.monotonic() + 4
    while time.monotonic() < limit:
        found = [element for element in b.page.elements if element.label.startswith(start) and element.label.endswith(end)]
        if found and found[0].role != "field":
            b.tap(found[0] if found[0].alias else found[0].label, then=True)
            b.submit()
            return
        b.look()
    raise Failed("no suggestion fits")


@policy("use-colorwheel")
def use_colorwheel(b):
    """Types the code of a colour, and leaves the field, which closes the palette."""
    (name,) = b.match(r"^Select (\w+) with the color picker")
    set_colour(b, COLOURS[name])


@policy("use-colorwheel-2")
def use_colorwheel_2(b):
    """Types the code of a colour that is shown as a patch between the words of the task."""
    colours = {}
    for _, _, colour in b.picture().pixels(0, 0, 160, 50):
        colours[colour] = colours.get(colour, 0) + 1
    for known in ((255, 255, 0), (0, 0, 0), (255, 255, 255)):
        colours.pop(known, None)
    red, green, blue = max(colours, key=colours.get)
    set_colour(b, f"{red:02X}{green:02X}{blue:02X}")


def set_colour(b, code):
    """Types the code of a colour, taps beside the field to close the palette, and submits."""
    b.fill(b.page.fields()[0], code)
    b.tap_at(150, 45, then=True)
    b.submit()


@policy("scroll-text-2")
def scroll_text_2(b):
    """Scrolls a text to its end or its beginning."""
    (edge,) = b.match(r"to the (bottom|top) of the text")
    box = next(node for node in b.nodes() if node.id == "text-area")
    scroll_to_edge(b, box, edge == "bottom")
    b.submit()


@policy("sign-agreement")
def sign_agreement(b):
    """Cancels, or scrolls a text to its end and signs it."""
    if "Click the cancel button" in b.task:
        b.tap("Cancel")
        return
    name, button = b.match(r'enter the name "(\w+)" then press "(\w+)"')
    box = next(node for node in b.nodes() if node.id == "text-area")
    for _ in range(6):
        scroll_to_edge(b, box, True)
        b.look(1000)
        if b.page.find("Agree"):
            break
    b.fill("Name", name)
    b.tap(button)


def scroll_to_edge(b, box, down):
    """Turns the wheel over an element so far that the content of most boxes is at its edge."""
    for _ in range(20):
        b.wheel(box.x, box.bottom - 5 if down else box.top + 5, 100 if down else -100)


@policy("terminal")
def terminal(b):
    """Lists the files in a terminal, and deletes the one that the task describes."""
    ending = re.search(r"extension \.([\w.]+)", b.task)
    b.tap(b.page.all()[0])
    run_command(b, "ls")
    lines = [node.text for node in b.nodes() if node.top > 47 and node.left < 160]
    files = lines[next(index for index, text in enumerate(lines) if text.endswith("ls")) + 1].split()
    if ending:
        chosen = next(file for file in files if file.endswith("." + ending[1]))
    else:
        chosen = next(file for file in files if "." not in file)
    run_command(b, "rm " + chosen)


def run_command(b, command):
    """Types a command and presses Enter."""
    b.act("text", text=command)
    b.key("enter")


@policy("order-food")
def order_food(b):
    """Orders the named dishes, or several of a kind."""
    kind = re.match(r"^Order (\d) items that are ([\w-]+)", b.task)
    if kind:
        add_dish(b, dish_of_kind(b, kind[2]), int(kind[1]))
    else:
        (names,) = b.match(r"^Order one of each item: (.*?) Appetizers")
        for name in names.split(", "):
            add_dish(b, name.strip(), 1)
    b.reach("Order!")


def dish_of_kind(b, kind):
    """Returns the name of the first dish that has a picture with the description `kind`."""
    nodes = b.nodes()
    place = next(index for index, node in enumerate(nodes) if node.kind == "image" and node.text == kind)
    return next(node.text for node in reversed(nodes[:place]) if node.kind == "StaticText" and node.text not in "+-")


def add_dish(b, name, count):
    """Scrolls to a dish and taps the sign that adds it."""
    b.act("scrollTo", text=name, exactMatch=True, then=True)
    for _ in range(count):
        b.tap(next(element for element in b.page.after(name) if element.label == "+"), then=True)
