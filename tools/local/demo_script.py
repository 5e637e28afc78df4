"""The scripted week that `make demo` plays: who says what, when. How it is checked stands in demo.py."""

from dataclasses import dataclass

PERSON = "+34600111222"
NAME = "Maya"
AGENT = "sales"
WEEKS_AWAY = 3


@dataclass(frozen=True, slots=True)
class Day:
    """What the person writes in one go.

    Attributes:
        days_ago: When she wrote it, counted from today.
    """

    title: str
    days_ago: int
    texts: tuple[str, ...]


INTRODUCTION = Day("Monday: Maya writes for the first time", 27, ("Hi! My name is Maya.",))

BURST = Day(
    "Monday: three quick messages",
    27,
    (
        "I work as the manager of a dental clinic.",
        "Our biggest problem is missed calls.",
        "I live in Lisbon.",
    ),
)

RETRIED = Day("Monday: the provider delivers one message five times", 27, ("Our budget is 300 euros a month.",))

WEEK = (
    Day(
        "Tuesday morning",
        26,
        (
            "Good morning!",
            "I am interested in the automatic reminders.",
            "How long does it take to set up?",
            "We use a paper calendar today.",
        ),
    ),
    Day(
        "Tuesday evening",
        26,
        (
            "The receptionist hates it.",
            "Patients forget their appointments.",
            "About twelve every week.",
            "That is a lot of empty chairs.",
        ),
    ),
    Day(
        "Wednesday morning",
        25,
        (
            "I talked with my partner last night.",
            "She likes the idea.",
            "She asked whether it works in Portuguese.",
            "Most of our patients are from here.",
        ),
    ),
    Day(
        "Wednesday evening",
        25,
        (
            "Some are tourists.",
            "They write in English.",
            "A few in German.",
            "Can it answer in three languages?",
        ),
    ),
    Day(
        "Thursday morning",
        24,
        (
            "Quick question about invoices.",
            "Do you send them every month?",
            "Our accountant is very strict.",
            "She wants everything by the fifth.",
        ),
    ),
    Day(
        "Thursday evening",
        24,
        (
            "I like short messages, by the way.",
            "Long mails get lost.",
            "We have two locations.",
            "The second one opened in spring.",
        ),
    ),
    Day(
        "Friday morning",
        23,
        (
            "Almost weekend!",
            "I showed your page to the team.",
            "They want to try it first.",
            "Is there a trial?",
        ),
    ),
    Day(
        "Friday evening",
        23,
        (
            "Two weeks would be enough.",
            "We could begin with one location.",
            "The smaller one.",
            "We want to start in January.",
        ),
    ),
    Day(
        "Saturday",
        22,
        (
            "Sorry for writing on a weekend.",
            "I am a bit nervous about the change.",
            "We tried another tool last year.",
            "It was too complicated.",
        ),
    ),
    Day(
        "Sunday",
        21,
        (
            "Nobody used it after a month.",
            "So it has to be simple.",
            "I am going to decide after my holiday.",
            "Talk to you in three weeks!",
        ),
    ),
)

VOICE = "The phone rings all day and I am tired of it."
"""What she says in a voice message."""

PHOTO = "the front desk of a dental clinic with a full paper calendar"
"""What a picture of hers shows."""

PHOTO_CAPTION = "This is our front desk"

STOP = "STOP"
AFTER_STOP = "Sorry, I did not mean that. Are you still there?"

RETURN = "Hi, I'm back!"
RETURN_QUESTION = "What did I tell you about our budget?"
NEW_NUMBER = "+15550123"
AFTER_REPLACEMENT = "Do you still know what my name is?"
AFTER_ERASURE = "What is my name?"

TOLD = ("name", "budget", "city", "pain_point")
"""Kinds of facts that must be known after the week, under the agent's own keys."""
WORDS_OF_THE_WEEK = (
    "clinic",
    "calls",
    "budget",
    "reminders",
    "calendar",
    "january",
    "lisbon",
    "decide",
    "holiday",
)
"""A greeting after three weeks must mention something of that."""
