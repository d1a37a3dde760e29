"""Words of goals and labels: light stemming, everyday synonyms, and how many words a label shares with a goal."""

import re

STOP = set("""a an the i my me of to in on at for and or is are was it its that this what which when where how do does did with from by as be
not no you your we our us please let show see want would some one now per any all up can who each them things must so than then there will
have has had ich in wo der die das und was ist ein eine""".split())

SYNONYMS = [
    "money price cost currency pay euro franc kostet preis eur",
    "buy bought order purchase",
    "parcel package delivery shipping shipment track tracking arrive send sent versand deliver post",
    "text sms notification message alert notify",
    "notification ring quiet night disturb",
    "address office",
    "detail profile personal data name",
    "data privacy partner share sharing tracking",
    "setting preference option profile account notification privacy",
    "voucher gift card coupon code discount",
    "subscription post packet pause away holiday",
    "number tracking phone telephone",
    "question help faq valid",
    "write contact message ask wholesale business",
    "shop store open hour opening",
    "basket cart bag",
    "teapot whisk ware glass bamboo",
    "gift wrap wrapping present",
    "country norway taiwan austria osterreich switzerland zurich japan china",
    "origin taiwan country",
    "deutsch german osterreich wohne",
    "ingredient root root content",
    "board task practice area list",
    "tea teas",
    "pause stop hold suspend off",
    "default standard main",
]
VERBS_OFF = set("stop off pause disable without".split())


def stem(word):
    """Returns the stem of a word, by cutting common English endings."""
    for ending, rest in (("ies", "y"), ("ing", ""), ("ed", ""), ("es", "e"), ("s", "")):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            return word[: -len(ending)] + rest
    return word


def plain(text):
    """Returns `text` in small letters and without umlauts."""
    return text.lower().translate(str.maketrans("äöüéèß", "aouees"))


def words(text):
    """Returns the stems of the words of `text` that carry meaning."""
    return [stem(word) for word in re.findall(r"[a-z0-9]+", plain(text).replace("e-mail", "email")) if word not in STOP]


GROUPS = [set(words(line)) for line in SYNONYMS]


def near(word):
    """Returns the synonyms of a stem, without the stem itself."""
    found = set()
    for group in GROUPS:
        if word in group:
            found |= group
    return found - {word}


class Profile:
    """The words of a goal, with weights: 1 for a word of the goal, less for a synonym."""

    def __init__(self, text, inputs=None):
        self.weights = {}
        for word in words(text):
            self.weights[word] = 1.0
        for word in list(self.weights):
            for other in near(word):
                self.weights.setdefault(other, 0.6)
        if inputs and "user" in inputs:
            for word in ("account", "sign", "login"):
                self.weights.setdefault(word, 0.6)

    def exact(self, text):
        """Returns whether a text has a word of the goal itself, not only a synonym."""
        return any(self.weights.get(word, 0) == 1 for word in words(text))

    def add(self, text, weight=1.0):
        """Adds the words of `text`, such as a label that a note names."""
        for word in words(text):
            self.weights[word] = max(weight, self.weights.get(word, 0))

    def score(self, label):
        """Returns how much of the goal a label has; longer labels with the same words count slightly less."""
        found = set(words(label))
        shared = sum(self.weights.get(word, 0) for word in found)
        return shared / (1 + 0.08 * max(0, len(found) - 2))


def names(goal):
    """Returns the proper nouns of a goal: capital letters that do not begin a sentence."""
    found = []
    for sentence in re.split(r"(?<=[.!?:])\s+", goal):
        rest = sentence.split(" ", 1)[1] if " " in sentence else ""
        found += re.findall(r"\b[A-Z][\w-]+(?: [A-Z][\w-]+)*", rest)
    return [name for name in found if name != "I" and not re.search(r"\d", name)]


def quoted(goal):
    """Returns the text between single quotation marks in a goal, or an empty string."""
    match = re.search(r"'([^']+)'", goal)
    return match[1] if match else ""
