"""Policies of tasks in which fields have to be filled."""

import re

from page import Failed
from registry import policy


@policy("enter-text", "enter-text-dynamic")
def enter_text(b):
    """Types the quoted text."""
    (text,) = b.match(r'^Enter " ?(\S+?) ?" into')
    b.fill(b.page.fields()[0], text)
    b.submit()


@policy("enter-text-2")
def enter_text_2(b):
    """Types the quoted text in upper or lower case."""
    text, case = b.match(r'^Type " ?(\S+?) ?" in all (\w+) case')
    b.fill(b.page.fields()[0], text.upper() if case == "upper" else text.lower())
    b.submit()


@policy("enter-password")
def enter_password(b):
    """Types a password into both fields."""
    (password,) = b.match(r'the password " ?(\S+?) ?" into')
    for field in b.page.fields():
        b.fill(field, password)
    b.submit()


@policy("enter-date")
def enter_date(b):
    """Fills a date field."""
    month, day, year = b.match(r"(\d\d)/(\d\d)/(\d{4})")
    b.fill(b.page.fields()[0], f"{year}-{month}-{day}")
    b.submit()


@policy("enter-time")
def enter_time(b):
    """Fills a time field."""
    hour, minute, half = b.match(r"(\d+):(\d\d) ([AP])M")
    b.fill(b.page.fields()[0], f"{int(hour) % 12 + (12 if half == 'P' else 0):02}:{minute}")
    b.submit()


@policy("login-user")
def login_user(b):
    """Fills in a user name and a password."""
    user, password = b.match(r'username " ?(\S+?) ?" and the password " ?(\S+?) ?" into')
    b.fill("Username", user)
    b.fill("Password", password)
    b.tap("Login")


@policy("login-user-popup")
def login_user_popup(b):
    """Fills in a user name and a password, and dismisses the question that appears between them."""
    user, password = b.match(r'username " ?(\S+?) ?" and the password " ?(\S+?) ?" into')
    for name, text in (("Username", user), ("Password", password)):
        b.tap(name, then=True)
        if b.page.find("Cancel"):
            b.tap("Cancel", then=True)
        b.fill(name, text)
    b.tap("OK")


@policy("choose-list")
def choose_list(b):
    """Chooses an option of a list."""
    (option,) = b.match(r"^Select (.*?) from the list")
    b.fill(b.page.fields()[0], option)
    b.submit()


@policy("click-scroll-list")
def click_scroll_list(b):
    """Chooses one or two options of a list in which several can be chosen."""
    (names,) = b.match(r"^Select (.*?) from the scroll list")
    for name in names.split(", "):
        b.tap(name)
    b.submit()


@policy("copy-paste")
def copy_paste(b):
    """Copies the text of the large field into the small one."""
    b.fill(b.page.by_id("answer-input"), max(field_texts(b), key=len))
    b.submit()


@policy("copy-paste-2")
def copy_paste_2(b):
    """Copies the text of one of three fields into the fourth."""
    (number,) = b.match(r"text from the (\d)")
    b.fill(b.page.fields()[3], field_texts(b)[int(number) - 1])
    b.submit()


def field_texts(b):
    """Returns the exact contents of all fields, which outlines may shorten."""
    return [node.raw for node in b.nodes() if node.kind == "textbox"]


@policy("find-word")
def find_word(b):
    """Types the word at a position of a paragraph."""
    position, words = b.match(r'Find the (\d+)\w\w word in the paragraph.*press "Submit"\. (.*)$')
    word = words.split()[int(position) - 1]
    b.fill(b.page.fields()[0], re.sub("[^A-Za-z]", "", word))
    b.submit()


@policy("form-sequence-2")
def form_sequence_2(b):
    """Chooses a radio button and fills a field."""
    radio, number, field = b.match(r'the (\d)\w\w radio button and enter the number "(-?\d+)" into the (\d)')
    b.tap(b.page.boxes()[int(radio) - 1])
    b.fill(b.page.fields()[int(field) - 1], number)
    b.submit()


@policy("form-sequence-3")
def form_sequence_3(b):
    """Chooses an option of a drop-down list, then taps a button."""
    option, button = b.match(r'Choose (.*?) from the dropdown, then click the button labeled "(\w+)"')
    b.tap(b.page.all()[0], then=True)
    b.act("scrollTo", text=option, exactMatch=True)
    b.reach(option, then=True)
    b.tap(button)


@policy("guess-number")
def guess_number(b):
    """Guesses a number by halving the range."""
    low, high = 0, 9
    while low <= high:
        guess = (low + high) // 2
        b.fill(b.page.fields()[0], str(guess))
        b.tap("Submit", then=True)
        if f"lower than {guess}" in b.task:
            high = guess - 1
        elif f"higher than {guess}" in b.task:
            low = guess + 1
        else:
            return
    raise Failed("no number is left")


@policy("multi-layouts", "multi-orderings")
def multi_layouts(b):
    """Fills in the three properties of a film, whatever the form looks like."""
    genre, director, year = b.match(r"Search for (\S+) movies directed by (\S+) from year (\d+)")
    for field in b.page.fields():
        if "Genre" in field.label:
            b.fill(field, genre)
        elif "Director" in field.label:
            b.fill(field, director)
        elif "Year" in field.label or "Date" in field.label:
            b.fill(field, year)
    b.tap([element for element in b.page.all() if element.role != "field"][-1])


@policy("read-table")
def read_table(b):
    """Copies a value of a table into a field."""
    (key,) = b.match(r"Enter the value of (.*?) into the text field")
    b.fill(b.page.fields()[0], table_value(b, key))
    b.submit()


@policy("read-table-2")
def read_table_2(b):
    """Copies the values of a table into the fields with the same names."""
    for field in b.page.fields():
        b.fill(field, table_value(b, field.label.rstrip(": ")))
    b.submit()


def table_value(b, key):
    """Returns the second cell of the row of a table that begins with `key`."""
    cells = [cell for text in b.page.texts() for cell in text.split(" | ")]
    return cells[cells.index(key) + 1]


@policy("scroll-text")
def scroll_text(b):
    """Types the last word of a long text."""
    text = next(node for node in b.nodes() if node.id == "text-area").text
    b.fill(b.page.fields()[-1], re.sub("[^A-Za-z0-9]", "", text.split()[-1]))
    b.submit()


@policy("simple-algebra")
def simple_algebra(b):
    """Solves an equation."""
    left, sign, right, result = b.match(r"(x|\d+) ([-+]) (x|\d+) = (-?\d+)")
    result = int(result)
    if left == "x":
        answer = result - int(right) if sign == "+" else result + int(right)
    else:
        answer = result - int(left) if sign == "+" else int(left) - result
    b.fill(b.page.fields()[0], str(answer))
    b.submit()


@policy("simple-arithmetic")
def simple_arithmetic(b):
    """Adds, subtracts or multiplies two digits."""
    left, sign, right = b.match(r"(\d) ([-+x]) (\d) =")
    left, right = int(left), int(right)
    answer = {"+": left + right, "-": left - right, "x": left * right}[sign]
    b.fill(b.page.fields()[0], str(answer))
    b.submit()


@policy("text-transform")
def text_transform(b):
    """Types what a picture of letters shows."""
    (letters,) = b.match(r"press Submit\. (.*?) Submit$")
    b.fill(b.page.fields()[0], letters.replace(" ", ""))
    b.submit()
