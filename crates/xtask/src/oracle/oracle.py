"""Compares what our evaluator says is due next with two others: the one of evaluator.py, and croniter.

Reads lines of JSON, each an expression, a zone, what happens when clocks are turned, a moment, and what our evaluator says
follows. Croniter is asked what wall clocks show when an expression fires, in whatever zone they are; at which second they show
it is for zoneinfo. Ends with 1 when anything differs that crates/cron/DIFFERENCES.md does not list.
"""

import json
import re
import sys
from collections import Counter
from datetime import timedelta
from multiprocessing import Pool

from croniter import CroniterBadDateError, CroniterError, croniter

from evaluator import Expression, following, resolve

# Croniter is slow: it is asked of one case in three, for so many times of the wall clock at most.
ASKED_OF = 3
WALLS_MAX = 6
# Croniter knows the years from 1970 to 2099.
CRONITER_YEAR_MAX = 2099


def in_their_words(text):
    """The expression as croniter writes it; none where it has no words, or means something else by them: see DIFFERENCES.md."""
    *time, day, month, weekday, year = (text + " *").split()[:7]
    is_counted = "W" in day or "#" in weekday or "L" in weekday
    if "L-" in day or "LW" in day or is_counted and day != "*" and weekday != "*":
        return None
    if re.search(r"\b(\d+)-\1\b", text) or re.search(r"\b(29|30|31)W", day):
        return None
    weekday = re.sub(r"([0-7])L", r"L\1", weekday)
    return " ".join([*time, day.lower(), month, weekday, year])


def by_croniter(case, begin, walls):
    """Whether croniter names the same times of the wall clock, or what it names instead; none where it is not asked."""
    text = in_their_words(resolve(case["cron"], case["seed"]))
    walls = [wall for wall in walls if wall.year <= CRONITER_YEAR_MAX][:WALLS_MAX]
    if text is None or not walls:
        return None
    begin -= timedelta(seconds=1)
    either = case["rule"] == "or"
    try:
        walk = croniter(text, begin, second_at_beginning=True, day_or=either, max_years_between_matches=150)
        theirs = [walk.get_next(type(begin)) for _ in walls]
    except CroniterBadDateError:
        *_, day, _, weekday, year = text.split()
        if either and "*" not in (day, weekday, year):
            return None
        theirs = []
    except CroniterError:
        return None
    return theirs == walls or theirs


def check(numbered):
    at, line = numbered
    case = json.loads(line)
    said = case["next"]
    expression = Expression(case["cron"], case["rule"] == "and", case["seed"])
    # When we say that nothing follows, one more is looked for.
    slow, begin, walls = following(expression, case, len(said) + case["over"])
    if slow != said:
        return "differs", case["zone"], f"{line.strip()}\n  by day and second: {slow}"
    other = by_croniter(case, begin, walls) if at % ASKED_OF == 0 else None
    if other is not None and other is not True:
        return "differs", case["zone"], f"{line.strip()}\n  by croniter {other},\n  not {walls[:WALLS_MAX]}"
    return ("one" if other is None else "both"), case["zone"], None


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        lines = file.readlines()
    with Pool() as pool:
        answers = pool.map(check, list(enumerate(lines)), chunksize=200)
    wrong = [words for _, _, words in answers if words is not None]
    for words in wrong[:20]:
        print(words)
    kinds = Counter(kind for kind, _, _ in answers)
    zones = len({zone for _, zone, _ in answers})
    theirs = len({zone for kind, zone, _ in answers if kind == "both"})
    print(f"    {len(lines)} schedules in {zones} zones: {len(wrong)} differ")
    print(f"    {kinds['both']} of them asked of croniter as well, in {theirs} zones")
    if wrong or theirs < zones:
        sys.exit(1)


if __name__ == "__main__":
    main()
