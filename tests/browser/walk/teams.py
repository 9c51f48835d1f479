"""What teams do: sign up, make a team, take the files, hand in answers, a prompt or a metric's
scores, read a rank."""

from __future__ import annotations

import re

from tests.browser.walk import material
from tests.browser.walk.organiser import CHALLENGE, FINALS, PRACTICE
from tests.browser.walk.people import Person


def join(person: Person, team: str) -> None:
    person.follow("Challenges", "header")
    person.follow(CHALLENGE)
    person.follow("Sign up", ".step-panel")
    person.signs_up()
    person.sees_heading(CHALLENGE)
    person.write(Name_of_the_team=team)
    person.press("Create team")
    person.sees(team)
    person.follow("Choose a round")


def go_to_the_round(person: Person, name: str) -> None:
    person.follow("Challenges", "header")
    person.follow(CHALLENGE)
    person.follow(name, "main")


def template(person: Person) -> str:
    return person.downloads(lambda: person.follow("CSV", ".files"))


def hand_in_a_file(person: Person, system: str, file: str) -> None:
    person.give("File of responses", "answers.csv", file)
    person.write(Name_of_the_system=system)
    person.press("Submit", ".hand-in")
    person.sees_heading(system)


def practise_with_a_mistake(person: Person) -> None:
    """A file without its last line is explained, costs nothing, and is mended."""
    go_to_the_round(person, PRACTICE)
    full = material.answers(template(person), material.nearly_gold)
    hand_in_a_file(person, "Half a system", full[: full.rstrip().rindex("\n") + 1])
    person.waits_for("invalid")
    person.waits_for(re.compile("orchard.*turn 2|turn 2.*orchard|missing", re.DOTALL))
    person.follow(PRACTICE, "main")
    person.sees(re.compile(r"Left today\s*5"))
    hand_in_a_file(person, "A whole system", full)
    person.waits_for(re.compile(r"Rank\s*1"))


def hand_in_to_the_finals(person: Person, system: str, words_of: object) -> None:
    go_to_the_round(person, FINALS)
    person.sees("The references are hidden")
    hand_in_a_file(person, system, material.answers(template(person), words_of))
    person.waits_for(re.compile(r"Rank\s*\d"))


def hand_in_a_prompt(person: Person, system: str) -> None:
    go_to_the_round(person, FINALS)
    person.follow("write a prompt")
    person.sees("What the model is asked")
    person.write(Name_of_the_system=system)
    person.press("Submit", "#prompt")
    person.sees_heading(system)
    person.waits_for(re.compile(r"Rank\s*\d"))


def see_the_private_board(person: Person) -> None:
    go_to_the_round(person, FINALS)
    person.follow("Leaderboard", "main")
    person.follow("Private leaderboard")
    person.sees_row(of="Larks")


def hand_in_metric_scores(person: Person, name: str) -> None:
    person.follow("Corpora", "header")
    person.follow(material.FINAL)
    person.follow("Metrics", "main nav")
    person.follow(re.compile("submitted as scores|Submit the scores"))
    file = person.downloads(lambda: person.follow("Template for single responses (turns) as CSV"))
    person.give("File of scores", "scores.csv", material.scores(file))
    person.write(Name_of_the_metric=name)
    person.press("Submit", ".hand-in")
    person.waits_for(f"The scores are stored as {name}")
