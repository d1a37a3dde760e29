"""An agent without a language model: it explores a site by comparing labels with the goal, as a person does."""

from forms import choice_guesses, dangerous, fillable, goal_profile, is_field, submits, unchosen, SUBMIT, raw_words
from session import OutOfCalls
from view import BOTTOM, View
from words import VERBS_OFF, plain, words

DISMISS = ("no thanks", "not now", "close", "later", "dismiss", "skip", "only necessary")


class Done(Exception):
    """The text that ends the task is on the page."""


class Agent:
    """Performs one task; `steps` is the trail of what it did."""

    def __init__(self, meter, task, options):
        self.meter = meter
        self.task = task
        self.options = options
        self.view = View()
        self.profile = goal_profile(task)
        self.tried = set()
        self.moved = set()
        self.history = []
        self.frontier = {}
        self.trail = []
        self.scrolled = {}
        self.pending = -1
        self.kind = ""
        self.home = set()
        self.worth = {}

    def see(self, result):
        """Takes the page that an action led to, and ends the task if the page has the text that ends it."""
        look = (result or {}).get("look") or {}
        observation = look.get("observation")
        if observation and "outline" in observation:
            self.view.apply(observation)
        elif result is not None:
            return self.look()
        done = plain(self.task["done"])
        if done in plain(self.view.text()):
            raise Done
        return bool(look.get("changed", True))

    def look(self):
        """Reads the whole page."""
        result = self.meter.call("observe.page", format="outline")
        return self.see({"look": {"observation": result}})

    def start(self):
        """Opens the first page of the site."""
        self.history = []
        self.view.key = ""
        result = self.meter.call("act.launch", package=self.meter.site.url + "/", then="outline")
        self.see(result)
        self.home |= {item.name for item in self.view.targets()}
        self.common()

    def common(self):
        """Gives the words of the name of the site little weight, since they are on every page."""
        for word in words(self.view.title.split(" - ")[0]):
            if word in self.profile.weights and len(self.history) == 0:
                self.profile.weights[word] = 0.25

    def act(self, verb, item, effect, text=None, value=None):
        """Performs an action on an element and records it; returns whether the page changed."""
        before = self.view.key
        visible = [other.name for other in self.view.targets()]
        params = {"value": item.alias, "then": "diff"}
        if verb == "fill":
            params["text"] = text
        step = {"verb": verb, "label": item.name, "value": value, "page": before, "visible": visible, "effect": effect}
        self.trail.append(step)
        result = self.meter.call("act." + verb, wanted=item.label, **params)
        again = self.uncover(item) if result is None and "DEVICE_ERROR" not in self.meter.error else None
        if again is not None:
            result = self.meter.call("act." + verb, wanted=again.label, **{**params, "value": again.alias})
        if result is None:
            self.trail.remove(step)
            return False
        changed = self.see(result)
        if not changed and verb == "tap":
            self.trail.remove(step)
        step["moved"] = self.view.key != before
        if step["moved"]:
            self.moved.add(item.name)
            self.history.append(before)
            worth = max(self.profile.score(item.name), 0.8 * self.worth.get(before, 0))
            self.worth[self.view.key] = max(self.worth.get(self.view.key, 0), worth)
            self.pending = -1
        return changed

    def uncover(self, item):
        """After an error, closes the pop-up that covers the page; returns the element as it is now, if there was a pop-up."""
        order = DISMISS[::-1] if "Cookies" in self.meter.error else DISMISS
        self.look()
        closing = [
            (place, other)
            for place, word in enumerate(order)
            for other in self.view.targets()
            if other.name.lower().startswith(word)
        ]
        if not closing:
            return None
        other = closing[0][1]
        self.see(self.meter.call("act.tap", wanted=other.label, value=other.alias, then="diff"))
        return next(iter(self.view.find(item.name)), None)

    def fill_fields(self):
        """Fills the next field that has a value; returns whether there was one."""
        for item, key, text in fillable(self.task, self.view):
            if ("fill", self.view.key, item.name) in self.tried:
                continue
            self.tried.add(("fill", self.view.key, item.name))
            self.act("fill", item, key != "name", text, key)
            self.pending, self.kind = item.place, key
            return True
        return False

    def submit(self):
        """Sends what was filled in or chosen: with a button, or with Enter after a search that has not begun on its own."""
        if self.pending < 0:
            return False
        place, self.pending = self.pending, -1
        for item in submits(self.view, place, self.kind):
            if ("send", self.view.key, item.name, item.value) not in self.tried:
                self.tried.add(("send", self.view.key, item.name, item.value))
                self.act("tap", item, True)
                return True
        if self.kind == "quoted text" or self.kind == "name" and len(self.view.fresh) < 2:
            self.see(self.meter.call("act.key", key="enter", then="diff"))
            self.trail.append({"verb": "key", "label": "enter", "value": None, "page": self.view.key, "visible": [], "effect": self.kind != "name"})
            return True
        return False

    def choose(self):
        """Takes a choice of a closed list that concerns the goal; returns whether there was such a list."""
        for item in self.view.targets():
            form = self.pending >= 0 and unchosen(item)
            known = ("choose", self.view.key, item.name) in self.tried
            if not item.choice or known or not (form or self.profile.score(item.name) > 0.5):
                continue
            self.tried.add(("choose", self.view.key, item.name))
            if self.profile.score(item.value) < 1:
                self.pick(item)
            return True
        return False

    def pick(self, item):
        """Fills in the names of the goal as a choice; if there is no such choice, goes through the choices with the arrow key."""
        place = item.place
        for guess in choice_guesses(self.task["goal"]):
            if self.act("fill", item, True, guess, guess):
                self.pending, self.kind = max(self.pending, place), "choice"
                return
        step = {"verb": "fill", "label": item.name, "page": self.view.key, "visible": [], "effect": True}
        seen = set()
        for _ in range(8):
            if not self.see(self.meter.call("act.key", key="down", then="diff")):
                if seen or not self.see(self.meter.call("act.tap", wanted=item.label, value=item.alias, then="diff")) and len(seen) > 1:
                    return
                seen.add("")
                continue
            now = next((other for other in self.view.fresh if other.name == item.name), None)
            if now is None or now.value in seen:
                return
            seen.add(now.value)
            if self.profile.score(now.value) >= 0.6:
                self.trail.append({**step, "value": now.value})
                self.pending, self.kind = max(self.pending, place), "choice"
                return

    def was_tried(self, item):
        """Returns whether the element was used before: on this page, or anywhere if it leads to another page."""
        return item.name in self.moved or ("tap", self.view.key, item.name) in self.tried

    def score(self, item):
        """Returns how promising it is to tap an element, by its label and by the page that it led to before."""
        label = item.name
        if self.options.get("hints") and item.leads:
            label += " " + item.leads.split(" - ")[0]
        score = self.profile.score(label) + 0.5 * self.profile.score(self.view.context(item))
        if "basket" in self.profile.weights and "added" not in self.tried and raw_words(item.name) in (["basket"], ["view", "basket"]):
            score -= 0.7
        if item.place >= self.view.footer():
            score *= 0.8
        if item.useless or item.value == "checked" and not VERBS_OFF & set(words(self.task["goal"])):
            return 0
        if item.value == "not checked" and VERBS_OFF & set(words(self.task["goal"])):
            return 0
        if self.view.dialog and SUBMIT & set(raw_words(label)):
            score += 0.6
        if item in self.view.fresh and len(self.view.fresh) < 12:
            score += 0.3
        return score

    def fits(self, item):
        """Returns whether an element may be meant: not the link to the first page, and no purchase of another thing."""
        found = raw_words(item.name)
        if item.name and item.name == self.view.title.split(" - ")[0] or item.name == self.view.title.split(" - ")[-1]:
            return False
        if "add" in found and "basket" in found:
            thing = " ".join(word for word in found if word not in ("add", "to", "basket"))
            wanted = "basket" in self.profile.weights and "added" not in self.tried
            return wanted and self.profile.exact(thing or self.view.title)
        return True

    def candidates(self):
        """Returns the elements that may be tapped, best first, with their scores."""
        items = [
            item
            for item in self.view.targets()
            if not is_field(item) and not item.choice and not dangerous(item.name) and not self.was_tried(item)
        ]
        items = [item for item in items if self.fits(item)]
        ranked = [(self.score(item), -item.place, item) for item in items]
        return [(score, item) for score, _, item in sorted(ranked, key=lambda entry: entry[:2], reverse=True)]

    def step(self):
        """Performs the next step of the exploration."""
        if self.fill_fields() or self.choose() or self.submit():
            return
        ranked = self.candidates()
        best = ranked[0][0] if ranked else 0
        self.frontier[self.view.key] = best
        elsewhere = max((score for key, score in self.frontier.items() if key in self.history), default=0)
        own = self.own(ranked)
        if best >= 0.55 and best >= elsewhere - 1:
            self.frontier[self.view.key] = ranked[1][0] if len(ranked) > 1 else 0
            self.tap(ranked[0][1])
        elif own and self.worth.get(self.view.key, 0) >= 0.3:
            self.tap(own[0])
        elif self.can_scroll():
            self.scroll()
        elif self.history:
            self.back()
        elif ranked:
            self.tap(min((item for _, item in ranked), key=lambda item: item.place) if best < 0.3 else ranked[0][1])
        else:
            self.restart()

    def own(self, ranked):
        """Returns the elements that only this page has, if they are few like a menu, in the order of the page."""
        end = self.view.footer()
        items = [item for _, item in ranked if item.place < end and item.name not in self.home]
        return sorted(items, key=lambda item: item.place) if len(items) <= 8 else []

    def restart(self):
        """Goes on from the first page, once; then gives up."""
        if "restart" in self.tried:
            raise OutOfCalls
        self.tried.add("restart")
        self.start()

    def tap(self, item):
        """Taps an element once."""
        self.tried.add(("tap", self.view.key, item.name))
        state = item.value in ("checked", "not checked")
        add = bool(SUBMIT & set(raw_words(item.name)))
        before = self.view.key
        self.kind = "tap"
        changed = self.act("tap", item, (state or add) and self.score(item) >= 0.55)
        if changed and {"add", "basket"} <= set(raw_words(item.name)):
            self.tried.add("added")
            self.profile.add("view basket")
        if changed and self.view.key == before and state:
            self.pending = item.place

    def can_scroll(self):
        """Returns whether there may be more below what is shown."""
        names = {item.name.lower() for item in self.view.targets()}
        return len(self.view.items) >= 15 and not self.view.dialog and not names & BOTTOM and self.scrolled.get(self.view.key, 0) < 3

    def scroll(self):
        """Scrolls down, and remembers when the end is reached."""
        key = self.view.key
        result = self.meter.call("act.scroll", direction="down", amount="large", then="diff")
        changed = self.see(result)
        self.scrolled[key] = self.scrolled.get(key, 0) + 1 if changed else 9

    def back(self):
        """Goes back to the page before, and takes the step there off the trail."""
        self.history.pop()
        result = self.meter.call("act.back", then="diff")
        for index in range(len(self.trail) - 1, -1, -1):
            if self.trail[index].get("moved"):
                self.trail[index]["undone"] = True
                break
        self.pending = -1
        self.see(result)

    def run(self):
        """Explores until the task is done or the calls are used up; returns whether it is done."""
        try:
            self.start()
            while True:
                self.step()
        except Done:
            return True
        except OutOfCalls:
            return False
