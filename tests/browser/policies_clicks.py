"""Policies of tasks in which the right elements have to be clicked."""

import re
import time

from page import Failed
from registry import policy

SYNONYMS = """big large huge enormous gigantic; small tiny little mini petite; red scarlet crimson vermillion;
happy cheerful joyful gleeful delighted; sad unhappy sorrowful miserable tragic; angry mad furious irritated;
evil wicked immoral sinful corrupt depraved; wrong incorrect mistaken erroneous; real genuine actual; strange odd peculiar unusual weird;
stop cease halt end finish; scared terrified panicked fearful frightened afraid; quiet calm peaceful serene mild; old aged archaic;
love like adore favor; kill murder assassinate; keep retain preserve sustain maintain; hide conceal camouflage;
hate despise loathe detest dislike; funny humorous amusing comical laughable; fat fleshy plump chubby; stupid dumb dull unwise;
delicious savory delectable appetizing; cut slice carve chop; brave courageous fearless; begin start initiate launch;
answer reply response; television televisions tv tvs; house home houses homes; fire flame fires flames; pig pork swine;
rabbit rabbits bunny bunnies; car cars automobile automobiles vehicle vehicles; water"""
GROUPS = [set(group.split()) for group in SYNONYMS.split(";")]


@policy("click-test")
def click_test(b):
    """Taps the only button."""
    b.tap("Click Me!")


@policy("click-test-2", "click-test-transfer")
def click_named_button(b):
    """Taps the button that the task names."""
    (name,) = b.match(r"Click button (\w+)")
    b.tap(b.page.get(name))


@policy("click-button-sequence")
def click_button_sequence(b):
    """Taps two buttons one after the other."""
    b.tap("ONE")
    b.tap("TWO")


@policy("button-delay")
def button_delay(b):
    """Taps two buttons with a pause of the given length between them."""
    (seconds,) = b.match(r"wait (\d+) seconds")
    b.tap("ONE")
    time.sleep(int(seconds))
    b.tap("TWO")


@policy("click-button", "unicode-test")
def click_button(b):
    """Taps a button with the quoted label."""
    (label,) = b.match(r'^Click on the " ?(.*?) ?" button\.')
    b.tap(b.page.get(label, "button"))


@policy("click-checkboxes", "click-checkboxes-large", "click-checkboxes-transfer", "click-option")
def click_checkboxes(b):
    """Checks the boxes that the task lists."""
    (names,) = b.match(r"^Select (.*?) and click Submit")
    for name in [] if names == "nothing" else names.split(", "):
        b.tap(b.page.get(name))
    b.submit()


@policy("click-checkboxes-soft")
def click_checkboxes_soft(b):
    """Checks the boxes whose labels mean the same as the words of the task."""
    (names,) = b.match(r"similar to (.*?) and click Submit")
    wanted = [group for group in GROUPS if group & set(names.lower().split(", "))]
    for box in b.page.boxes():
        if any(box.label.lower() in group for group in wanted):
            b.tap(box)
    b.submit()


@policy("click-collapsible", "click-collapsible-nodelay")
def click_collapsible(b):
    """Expands a section, then submits."""
    section = next(element for element in b.page.all() if element.label.startswith("Section #"))
    b.tap(section, then=True)
    b.submit()


@policy("click-collapsible-2", "click-collapsible-2-nodelay")
def click_collapsible_2(b):
    """Expands one section after the other until the link is there, then taps it."""
    (link,) = b.match(r'link "(.*?)"\.')
    for number in range(1, 4):
        b.tap(f"Section #{number}", then=True)
        found = b.page.find(link)
        if found:
            b.tap(found)
            return
    raise Failed(f"no link {link!r} in the sections")


@policy("click-dialog")
def click_dialog(b):
    """Closes a dialog."""
    b.tap("Close")


@policy("click-dialog-2")
def click_dialog_2(b):
    """Taps the button of a dialog that the task names."""
    (name,) = b.match(r'labeled " ?(.*?) ?"\.')
    b.tap("Close" if name == "x" else name)


@policy("click-link")
def click_link(b):
    """Taps a link."""
    (link,) = b.match(r'on the link "(.*?)"\.')
    b.tap(b.page.get(link))


@policy("click-pie", "click-pie-nodelay")
def click_pie(b):
    """Opens a round menu and taps an item."""
    (item,) = b.match(r'labeled " ?(\S+) ?"')
    b.tap("+", then=True)
    b.tap(b.look_for(item))


@policy("click-tab")
def click_tab(b):
    """Taps a tab."""
    (tab,) = b.match(r"^Click on (Tab #\d)")
    b.tap(b.page.get(tab))


@policy("click-tab-2", "click-tab-2-easy", "click-tab-2-hard")
def click_tab_2(b):
    """Opens one tab after the other until the link is there, then taps it."""
    (link,) = b.match(r'link "(.*?)"\.')
    tabs = list(dict.fromkeys(element.label for element in b.page.all("button")))
    for tab in tabs:
        if b.page.find(link):
            break
        b.tap(b.page.get(tab), then=True)
    b.tap(b.page.get(link))


@policy("click-tab-2-medium")
def click_tab_2_medium(b):
    """Taps the link if it is in the first tab, and otherwise the second tab."""
    (link,) = b.match(r'link "(.*?)"\.')
    b.tap(b.page.find(link) or b.page.get("Tab #2"))


@policy("click-widget")
def click_widget(b):
    """Taps a widget of the given kind."""
    (kind,) = b.match(r'^Click on a " ?(\w+) ?" widget')
    nodes = [node for node in b.nodes() if node.top > 45 and node.left < 160]
    if kind in ("text", "textarea"):
        found = [node for node in nodes if node.kind == "textbox" and (node.height > 24) == (kind == "textarea")]
    else:
        found = [node for node in nodes if node.kind == kind]
    b.tap_at(found[0].x, found[0].y)


@policy("navigate-tree")
def navigate_tree(b):
    """Expands folders until the name is there, then taps it."""
    (name,) = b.match(r'named " ?(.*?) ?"')
    tried = set()
    while not b.page.find(name):
        folder = next((element for element in tree_names(b.page) if element.label not in tried), None)
        if folder is None:
            raise Failed(f"no {name!r} in the tree")
        tried.add(folder.label)
        b.tap(folder, then=True)
    b.tap(b.page.get(name))


def tree_names(page):
    """Returns the names of the folders of a tree: they stand behind an element without a label, which expands them."""
    elements = page.all()
    return [element for before, element in zip(elements, elements[1:]) if element.label and not before.label]


@policy("odd-or-even")
def odd_or_even(b):
    """Marks each number as odd or even."""
    odd = b.page.all("button", "Odd")
    even = b.page.all("button", "Even")
    numbers = [int(text) for text in b.page.texts() if re.fullmatch(r"-?\d+", text)]
    for index, number in enumerate(numbers):
        b.tap(odd[index] if number % 2 else even[index])
    b.submit()


@policy("buy-ticket")
def buy_ticket(b):
    """Buys the cheapest, the most expensive, the shortest or the longest ticket."""
    (wanted,) = b.match(r"^Buy the ticket with the (\w+ \w+)")
    durations = [int(hours) * 60 + int(minutes) for hours, minutes in re.findall(r"(\d+)h (\d+)m", b.task)]
    buttons = [element for element in b.page.all("button") if element.label.startswith("Book for")]
    prices = [int(button.label.split("$")[1]) for button in buttons]
    values = durations if "duration" in wanted else prices
    best = max(values) if wanted.startswith(("longest", "most")) else min(values)
    b.tap(buttons[values.index(best)])


@policy("generate-number")
def generate_number(b):
    """Generates numbers until one fits."""
    (rule,) = b.match(r"^Generate an? (.*?), then press submit")
    for _ in range(40):
        b.tap("Generate", then=True)
        number = next(int(text) for text in b.page.texts() if re.fullmatch(r"\d+", text))
        if fits(number, rule):
            b.submit()
            return
    raise Failed("no number fits")


def fits(number, rule):
    """Returns whether a number is as `rule` says, for example "number less than 7"."""
    words = rule.split()
    if "less" in words:
        return number < int(words[-1])
    if "greater" in words:
        return number > int(words[-1])
    return number % 2 == (1 if "odd" in words else 0)


@policy("find-greatest")
def find_greatest(b):
    """Turns the cards over one after the other, and submits with the greatest."""
    seen = []
    for index in range(3):
        b.tap(cards(b)[index], then=True)
        seen.append(next(int(text) for text in b.page.texts() if re.fullmatch(r"\d+", text)))
    b.tap(cards(b)[seen.index(max(seen))], then=True)
    b.submit()


def cards(b):
    """Returns the three cards."""
    return [element for element in b.page.all() if element.label != "Submit"][:3]


@policy("grid-coordinate")
def grid_coordinate(b):
    """Taps a point of a grid, which has its coordinates as its id."""
    (point,) = b.match(r"grid coordinate (\(-?\d,-?\d\))")
    b.tap(point, by="resId")


@policy("focus-text")
def focus_text(b):
    """Focuses the only field."""
    b.tap(b.page.fields()[0])


@policy("focus-text-2")
def focus_text_2(b):
    """Focuses one of three fields."""
    (number,) = b.match(r"into the (\d)")
    b.tap(b.page.fields()[int(number) - 1])


@policy("stock-market")
def stock_market(b):
    """Watches a price, and buys when it is low enough."""
    (limit,) = b.match(r"less than \$([\d.]+\d)")
    end = time.monotonic() + 12
    while time.monotonic() < end:
        price = re.search(r"Stock price: \$([\d.]+\d)", b.task)
        if price and float(price[1]) <= float(limit):
            b.tap("Buy")
            return
        b.look()
    raise Failed("the price did not fall")


@policy("phone-book")
def phone_book(b):
    """Turns the pages of a book to a person, and taps a property."""
    name, what = b.match(r"^Find (\S+) in the contact book and click on their (\w+)")
    for _ in range(6):
        if re.search(rf"\. {name} Phone:", b.task):
            break
        b.tap(">", then=True)
    index = ["phone", "email", "address"].index(what)
    buttons = [element for element in b.page.all() if len(element.label) > 3]
    b.tap(buttons[index])


@policy("search-engine")
def search_engine(b):
    """Searches for a name, turns to the page with the result, and taps the result."""
    name, number = b.match(r'enter " ?(\S+) ?" and press "Search", then find and click the (\d)')
    place = int(number) - 1
    b.fill(b.page.fields()[0], name)
    b.tap("Search", then=True)
    if place >= 3:
        b.tap(b.page.get(str(place // 3 + 1)), then=True)
    b.tap(results(b)[place % 3])


def results(b):
    """Returns the titles of the search results."""
    fields = [index for index, element in enumerate(b.page.elements) if element.label == "Search"]
    after = b.page.elements[fields[0] + 1 :]
    return [element for element in after if element.alias and element.label.istitle()]


@policy("ascending-numbers")
def ascending_numbers(b):
    """Remembers where the numbers are, because they disappear after the first tap, and taps them in order."""
    places = {node.text: node for node in b.nodes() if re.fullmatch("[1-5]", node.text) and node.left < 160 and node.top > 47}
    for number in "12345":
        b.tap_at(places[number].x, places[number].y)
