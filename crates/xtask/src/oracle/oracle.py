"""What is due next, written down a second time, slowly: day by day, second by second, with zoneinfo for the turns of the clocks.

Reads lines of JSON, each an expression, a zone, what happens when clocks are turned, a moment, and what our evaluator says
follows. In UTC croniter is asked as well, where it knows the words of the expression. Ends with 1 when anything differs.
"""

import calendar
import json
import re
import sys
from datetime import date, datetime, timedelta, timezone
from multiprocessing import Pool
from zoneinfo import ZoneInfo

from croniter import CroniterError, croniter

NAMES = {
    "month": "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split(),
    "weekday": "SUN MON TUE WED THU FRI SAT".split(),
}
UTC = timezone.utc


def number(text, field):
    if text.upper() in NAMES.get(field, []):
        return NAMES[field].index(text.upper()) + (1 if field == "month" else 0)
    return int(text)


def values(item, field, low, high):
    """The numbers of an item without specialities."""
    body, _, step = item.partition("/")
    if body == "*":
        first, last = low, high
    elif "-" in body:
        first, last = (number(part, field) for part in body.split("-"))
    else:
        first = number(body, field)
        last = high if step else first
    if last < first:
        numbers = list(range(first, high + 1)) + list(range(low, last + 1))
    else:
        numbers = list(range(first, last + 1))
    return numbers[:: int(step or 1)]


def numbers(text, field, low, high):
    return sorted({value for item in text.split(",") for value in values(item, field, low, high)})


def last_of(day):
    return calendar.monthrange(day.year, day.month)[1]


def nearest_weekday(year, month, wanted):
    last = calendar.monthrange(year, month)[1]
    near = [day for day in range(wanted - 2, wanted + 3) if 1 <= day <= last]
    working = [day for day in near if date(year, month, day).weekday() < 5]
    return min(working, key=lambda day: abs(day - wanted))


def day_fits(text, day):
    for item in text.split(","):
        near = item.endswith("W")
        body = item[:-1] if near else item
        if body.startswith("L"):
            wanted = last_of(day) - int(body[2:] or 0)
        elif near:
            wanted = int(body)
        else:
            if day.day in values(item, "day", 1, 31):
                return True
            continue
        if not 1 <= wanted <= last_of(day):
            continue
        if day.day == (nearest_weekday(day.year, day.month, wanted) if near else wanted):
            return True
    return False


def weekday_fits(text, day):
    ours = day.isoweekday() % 7
    for item in text.split(","):
        if item.endswith("L"):
            if ours == number(item[:-1], "weekday") % 7 and day.day + 7 > last_of(day):
                return True
        elif "#" in item:
            body, nth = item.split("#")
            fits = ours in [value % 7 for value in values(body, "weekday", 0, 6)]
            if fits and (day.day - 1) // 7 + 1 == int(nth):
                return True
        elif ours in [value % 7 for value in values(item, "weekday", 0, 7 if "7" in item else 6)]:
            return True
    return False


class Expression:
    def __init__(self, text, both):
        second, minute, hour, self.day, month, self.weekday = text.split()
        self.both = both
        self.months = numbers(month, "month", 1, 12)
        self.times = [
            (h, m, s)
            for h in numbers(hour, "hour", 0, 23)
            for m in numbers(minute, "minute", 0, 59)
            for s in numbers(second, "second", 0, 59)
        ]
        self.elapsed = any(field.startswith("*") for field in (second, minute, hour))

    def fits(self, day):
        if day.month not in self.months:
            return False
        by_day, by_weekday = self.day != "*", self.weekday != "*"
        if by_day and by_weekday:
            fits = (day_fits(self.day, day), weekday_fits(self.weekday, day))
            return all(fits) if self.both else any(fits)
        if by_day:
            return day_fits(self.day, day)
        return weekday_fits(self.weekday, day) if by_weekday else True


def end_of_gap(zone, before, after):
    """The second at which the clocks are turned, between two seconds with different offsets."""
    offset = lambda second: datetime.fromtimestamp(second, zone).utcoffset()
    while after - before > 1:
        middle = (before + after) // 2
        if offset(middle) == offset(before):
            before = middle
        else:
            after = middle
    return after


def seconds_of(local, zone, expression, gap, overlap):
    """When the wall clock of the zone shows a time, and what stands in for it."""
    found = []
    for fold in (0, 1):
        aware = local.replace(tzinfo=zone, fold=fold)
        second = round((aware.replace(tzinfo=None) - aware.utcoffset() - datetime(1970, 1, 1)).total_seconds())
        if datetime.fromtimestamp(second, zone).replace(tzinfo=None) == local:
            found.append(second)
        else:
            found.append(None)
    first, last = found
    if first is None and last is None:
        if expression.elapsed or gap == "skip":
            return []
        naive = round((local - datetime(1970, 1, 1)).total_seconds())
        offsets = [local.replace(tzinfo=zone, fold=fold).utcoffset().total_seconds() for fold in (0, 1)]
        early, late = sorted(naive - round(offset) for offset in offsets)
        return [end_of_gap(zone, early - 1, late)]
    both = sorted({second for second in found if second is not None})
    return both if expression.elapsed or overlap == "both" else both[:1]


def following(case, count):
    zone = ZoneInfo(case["zone"])
    expression = Expression(case["cron"], case["rule"] == "and")
    after = case["after"]
    day = datetime.fromtimestamp(after, zone).date() - timedelta(days=2)
    found, until = set(), None
    while until is None or day <= until:
        if expression.fits(day):
            for h, m, s in expression.times:
                local = datetime(day.year, day.month, day.day, h, m, s)
                seconds = seconds_of(local, zone, expression, case["gap"], case["overlap"])
                found.update(second for second in seconds if second > after)
        if until is None and len(found) >= count:
            # Clocks that are turned may bring a later day's time before an earlier one's.
            until = day + timedelta(days=2)
        day += timedelta(days=1)
        if day.year > 2140:
            break
    return sorted(found)[:count]


def by_croniter(case, count):
    """What croniter says; none where it does not know the words.

    Two differences are known, and ours is right in both: croniter requires a counted weekday (`4#2`, `4L`) beside a day of the
    month, although either suffices; and it takes a range of one (`6-6`) for all values.
    """
    *time, day, month, weekday = case["cron"].split()
    if day != "*" and ("#" in weekday or "L" in weekday) or re.search(r"\b(\d+)-\1\b", case["cron"]):
        return None
    if case["zone"] != "UTC" or "W" in day or "L-" in day or day.count("L") + day.count(",") > 1:
        return None
    weekday = re.sub(r"([0-7])L", r"L\1", weekday)
    text = " ".join([*time, day.lower(), month, weekday])
    begin = datetime.fromtimestamp(case["after"], UTC)
    try:
        walk = croniter(text, begin, second_at_beginning=True, day_or=case["rule"] == "or", max_years_between_matches=150)
        return [round(walk.get_next(float)) for _ in range(count)]
    except CroniterError:
        return None


def check(line):
    case = json.loads(line)
    said = case["next"]
    slow = following(case, len(said))
    if slow != said:
        return "zoneinfo", f"{case}\n  by day and second: {slow}"
    other = by_croniter(case, len(said))
    if other is not None and other != said:
        return "croniter", f"{case}\n  by croniter: {other}"
    return ("both" if other is not None else "one"), None


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        lines = file.readlines()
    with Pool() as pool:
        answers = pool.map(check, lines, chunksize=50)
    wrong = [words for _, words in answers if words is not None]
    for words in wrong[:20]:
        print(words)
    asked = sum(1 for kind, _ in answers if kind == "both")
    zones = len({json.loads(line)["zone"] for line in lines})
    print(f"    {len(lines)} schedules in {zones} zones, {asked} of them asked of croniter: {len(wrong)} differ")
    if wrong or not lines or not asked:
        sys.exit(1)


if __name__ == "__main__":
    main()
