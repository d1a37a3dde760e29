"""Policies of tasks with mails and with posts."""

import re

from page import Failed
from registry import policy


@policy(
    "email-inbox",
    "email-inbox-delete",
    "email-inbox-forward",
    "email-inbox-important",
    "email-inbox-noscroll",
    "email-inbox-reply",
    "email-inbox-star-reply",
)
def email_inbox(b):
    """Opens the mail of a sender, and replies, forwards, deletes or stars it."""
    sender, order = b.match(r"^Find the email by (\S+) (and .*)$")
    reply = re.search(r'with the text " ?(.*?) ?"\.', order)
    forward = re.search(r"forward that email to (\w+)", order)
    open_mail(b, sender)
    if reply:
        send_reply(b, reply[1])
    elif forward:
        send_forward(b, forward[1])
    else:
        b.tap(b.page.by_id("trash" if "trash icon" in order else "star"))


@policy("email-inbox-forward-nl", "email-inbox-forward-nl-turk", "email-inbox-nl-turk")
def email_inbox_free(b):
    """Does with a mail what a sentence in free English asks for."""
    order, *rows = b.page.texts()
    senders = {node.text for node in b.nodes() if re.fullmatch("[A-Z][A-Za-z]+", node.text) and node.top > 70}
    names = sorted((name for name in senders if re.search(rf"\b{name}(\b|s\b)", order)), key=order.index)
    if not names:
        raise Failed(f"no sender in {order!r}: {rows}")
    reply = re.search(r'"+(.*?) ?"', order)
    if reply:
        open_mail(b, names[0])
        send_reply(b, reply[1])
    elif len(names) > 1:
        sender, receiver = names if receives(order, names[1], names[0]) else reversed(names)
        open_mail(b, sender)
        send_forward(b, receiver)
    else:
        open_mail(b, names[0])
        deletes = re.search(r"(?i)delete|remove|rid of|trash|throw|recycl|out of|don't want", order)
        b.tap(b.page.by_id("trash" if deletes else "star"))


def receives(order, name, other):
    """Returns whether `order` asks to send the mail of `other` to `name`, and not the other way round."""
    if re.search(rf"\b[Tt]o:? {name}\b", order):
        return True
    if re.search(rf"\b[Tt]o:? {other}\b", order):
        return False
    return not re.search(rf"\b(from|by) {name}\b|\b{name}('s| sent| wrote)", order)


def open_mail(b, sender):
    """Opens the first mail of a sender."""
    if not rows_of(b, sender):
        b.act("scrollTo", text=sender, exactMatch=True, then=True)
    b.tap(rows_of(b, sender)[0], then=True)


def rows_of(b, sender):
    """Returns the mails of a sender that are in sight."""
    return [element for element in b.page.all() if re.match(rf"{sender}(,|$)", element.label)]


def send_reply(b, text):
    """Answers the open mail."""
    b.tap("Reply", then=True)
    b.fill(b.page.fields()[0], text)
    b.tap(b.page.by_id("send-reply"))


def send_forward(b, receiver):
    """Forwards the open mail."""
    b.tap("Forward", then=True)
    b.fill(b.page.fields()[0], receiver)
    b.tap(b.page.by_id("send-forward"))


@policy("social-media")
def social_media(b):
    """Taps a button of a post of a user, which may be in a menu."""
    user, action = b.match(r'^For the user (@\S+?) ?, click on the " ?(.*?) ?" button')
    post = next(index for index, node in enumerate(posts(b)) if user in node.text.split())
    if action in ("Reply", "Retweet", "Like"):
        tap_icon(b, post, action.lower())
    else:
        tap_icon(b, post, "more")
        item = f"{action} {user}" if action in ("Mute", "Block") else action
        b.reach(item)


@policy("social-media-all", "social-media-some")
def social_media_all(b):
    """Taps a button of all, or of some, posts of a user."""
    action, rest = b.match(r'^Click the " ?(\w+) ?" button on (.*?) and then click Submit')
    user = re.search(r"@\S+", rest)[0]
    count = re.match(r"\d+", rest)
    own = [index for index, node in enumerate(posts(b)) if user in node.text.split()]
    for post in own[: int(count[0]) if count else len(own)]:
        tap_icon(b, post, action.lower())
    b.reach("Submit")


def posts(b):
    """Returns the rows with the users of all posts, also of those that are out of sight."""
    return [node for node in b.nodes() if " @" in node.text and node.left > 5]


def tap_icon(b, index, name):
    """Scrolls to a post and taps one of its icons."""
    for _ in range(12):
        nodes = b.nodes()
        head = [node for node in nodes if " @" in node.text and node.left > 5][index]
        icon = next(node for node in nodes if node.id == name and node.top > head.top)
        if icon.bottom < 195 and icon.top > 55:
            b.look()
            shown = [node.top for node in nodes if node.id == name and "on" in node.flags]
            icons = [element for element in b.page.all() if element.id == name]
            b.tap(icons[shown.index(icon.top)], then=True)
            return
        b.wheel(80, 150, max(-100, min(140, icon.top - 120)))
        b.look(1000)
    raise Failed(f"the icon {name!r} does not come into sight")
