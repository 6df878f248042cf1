"""What is due next, written down a second time, slowly: day by day, second by second, with zoneinfo for the turns of the clocks."""

import calendar
from datetime import date, datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo

NAMES = {
    "month": "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split(),
    "weekday": "SUN MON TUE WED THU FRI SAT".split(),
}
# Each field: its first and last value, the last that a hash draws, and what the hash is drawn from beside the job.
BOUNDS = {
    "second": (0, 59, 59, 0),
    "minute": (0, 59, 59, 1),
    "hour": (0, 23, 23, 2),
    "day": (1, 31, 28, 3),
    "month": (1, 12, 12, 4),
    "weekday": (0, 6, 6, 5),
    "year": (1970, 2199, None, None),
}
EPOCH = datetime(1970, 1, 1)
# An expression that fits no day in so many years fits none: a day of the week and of the month meet again after 28, or 40.
LAST_YEAR = 2140


def mix(value):
    """SplitMix64."""
    mask = (1 << 64) - 1
    value = (value + 0x9E3779B97F4A7C15) & mask
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & mask
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & mask
    return value ^ (value >> 31)


def number(text, field):
    if text.upper() in NAMES.get(field, []):
        return NAMES[field].index(text.upper()) + (1 if field == "month" else 0)
    return int(text)


def hashed(item, field, seed):
    """The numbers that a hash stands for."""
    low, high, drawn, place = BOUNDS[field]
    body, _, step = item.partition("/")
    chance = mix(seed ^ mix(place))
    if body == "H":
        first, last = low, (high if step else drawn)
    else:
        first, last = (int(part) for part in body[2:-1].split("-"))
    if step:
        return list(range(first + chance % int(step), last + 1, int(step)))
    return [first + chance % (last - first + 1)]


def resolve(text, seed):
    """The expression with numbers in the place of its hashes."""
    fields = ["second", "minute", "hour", "day", "month", "weekday"]
    parts = text.split()
    for at, field in enumerate(fields):
        if parts[at].startswith("H"):
            parts[at] = ",".join(str(value) for value in hashed(parts[at], field, seed))
    return " ".join(parts)


def values(item, field):
    """The numbers of an item without specialities."""
    low, high, _, _ = BOUNDS[field]
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


def numbers(text, field):
    return sorted({value for item in text.split(",") for value in values(item, field)})


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
            if day.day in values(item, "day"):
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
            fits = ours in [value % 7 for value in values(body, "weekday")]
            if fits and (day.day - 1) // 7 + 1 == int(nth):
                return True
        elif ours in [value % 7 for value in values(item, "weekday")]:
            return True
    return False


class Expression:
    def __init__(self, text, both, seed):
        parts = text.split()
        self.elapsed = any(part.startswith(("*", "H/")) for part in parts[:3])
        second, minute, hour, self.day, month, self.weekday, *year = resolve(text, seed).split()
        self.both = both
        self.shapes = {}
        self.years = numbers(year[0], "year") if year and year[0] != "*" else None
        self.months = numbers(month, "month")
        self.times = [
            timedelta(hours=h, minutes=m, seconds=s)
            for h in numbers(hour, "hour")
            for m in numbers(minute, "minute")
            for s in numbers(second, "second")
        ]

    def fits(self, day):
        by_day, by_weekday = self.day != "*", self.weekday != "*"
        if by_day and by_weekday:
            fits = (day_fits(self.day, day), weekday_fits(self.weekday, day))
            return all(fits) if self.both else any(fits)
        if by_day:
            return day_fits(self.day, day)
        return weekday_fits(self.weekday, day) if by_weekday else True

    def days(self, year, month):
        """The days of a month that fit. Months that begin on the same day of the week and are as long are alike."""
        shape = calendar.monthrange(year, month)
        if shape not in self.shapes:
            days = [date(year, month, day) for day in range(1, shape[1] + 1)]
            self.shapes[shape] = [day.day for day in days if self.fits(day)]
        return self.shapes[shape]

    def walls(self, begin):
        """What wall clocks show when it fires, from a time on."""
        for year in range(begin.year, LAST_YEAR + 1):
            if self.years is not None and year not in self.years:
                continue
            for month in self.months:
                if (year, month) < (begin.year, begin.month):
                    continue
                for day in self.days(year, month):
                    midnight = datetime(year, month, day)
                    if midnight.date() >= begin.date():
                        yield from (midnight + time for time in self.times if midnight + time >= begin)


@cache
def zone_of(name):
    return ZoneInfo(name)


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
    naive = round((local - EPOCH).total_seconds())
    offsets = [round(local.replace(tzinfo=zone, fold=fold).utcoffset().total_seconds()) for fold in (0, 1)]
    shown = lambda second: datetime.fromtimestamp(second, zone).replace(tzinfo=None)
    found = sorted({naive - offset for offset in offsets if shown(naive - offset) == local})
    if not found:
        if expression.elapsed or gap == "skip":
            return []
        early, late = sorted(naive - offset for offset in offsets)
        return [end_of_gap(zone, early - 1, late)]
    return found if expression.elapsed or overlap == "both" else found[:1]


def following(expression, case, count):
    """The moments after one, at most so many, and the times of the wall clock that were looked at."""
    zone = zone_of(case["zone"])
    after = case["after"]
    shown = lambda second: datetime.fromtimestamp(second, zone).replace(tzinfo=None)
    # By how much the zone has turned its clocks back at most.
    back = timedelta(seconds=case["back"])
    begin = shown(after) - back
    found, walls, until = set(), [], None
    for wall in expression.walls(begin):
        # Clocks that are turned back may bring a later time of the wall clock before an earlier one.
        if until is not None and wall > until:
            break
        walls.append(wall)
        seconds = seconds_of(wall, zone, expression, case["gap"], case["overlap"])
        found.update(second for second in seconds if second > after)
        if until is None and len(found) >= count:
            until = max(wall, shown(sorted(found)[count - 1])) + back
    return sorted(found)[:count], begin, walls
