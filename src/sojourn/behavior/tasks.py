"""Tasks from the literature on self-control, as tables with named states and actions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from sojourn._validation import check_closed_unit, check_nonnegative, check_positive, check_whole
from sojourn.mdps import TabularMDP

__all__ = ["coupon", "report", "restaurants", "savings", "sooner_later", "tempting_good"]


def report(costs: Sequence[float] = (3.0, 5.0, 8.0, 13.0)) -> TabularMDP:
    """Write a report on one of several Saturdays; each time it costs that evening's film.

    Example 1 of O'Donoghue and Rabin (1999). In week h, writing costs `costs[h − 1]` at once; on the last
    Saturday it must be written. With β = ½ and δ = 1, a naive student writes on the fourth Saturday and a
    sophisticated one on the second; with β = 1 it is the first.

    Args:
        costs: Cost of writing on each Saturday, at least one.

    Example:
        >>> report().state_names
        ('Saturday 1', 'Saturday 2', 'Saturday 3', 'Saturday 4', 'done')
    """
    return _once([-check_nonnegative(f"costs[{i}]", cost) for i, cost in enumerate(costs)], "write", "Report")


def coupon(rewards: Sequence[float] = (3.0, 5.0, 8.0, 13.0)) -> TabularMDP:
    """See one film on one of several Saturdays with a coupon; the films get better.

    Example 2 of O'Donoghue and Rabin (1999). With β = ½ and δ = 1, a naive person goes on the third Saturday
    and a sophisticated one on the first; with β = 1 it is the fourth.

    Args:
        rewards: Value of the film on each Saturday, at least one.
    """
    return _once([check_nonnegative(f"rewards[{i}]", one) for i, one in enumerate(rewards)], "go", "Coupon")


def _once(pays: list[float], verb: str, name: str) -> TabularMDP:
    """Return the task of doing something once, by the last of several days at the latest."""
    n = len(pays)
    if n < 1:
        raise ValueError("There must be at least one Saturday; got none.")
    transitions, rewards = np.zeros((n + 1, 2, n + 1)), np.zeros((n + 1, 2))
    for day, pay in enumerate(pays):
        is_last = day == n - 1
        transitions[day, 0, n], rewards[day, 0] = 1.0, pay
        transitions[day, 1, n if is_last else day + 1] = 1.0
        rewards[day, 1] = pay if is_last else 0.0
    transitions[n, :, n] = 1.0
    states = [*(f"Saturday {day + 1}" for day in range(n)), "done"]
    return TabularMDP(
        transitions, rewards, terminal=n, name=name, state_names=states, action_names=[verb, "wait"]
    )


def tempting_good(
    *, pleasure: float = 1.0, harm: float = 1.2, levels: int = 3, fade: float = 0.5
) -> TabularMDP:
    """Enjoy something now that does harm later, again and again: O'Donoghue and Rabin's addictive product.

    Indulging pays `pleasure` at once and raises the level of harm by one, up to `levels`. Every step costs
    `harm` · level / `levels`. If you abstain, the level falls by one with probability `fade`.

    Args:
        pleasure: Immediate pay of indulging.
        harm: Cost per step at the highest level.
        levels: Number of levels of harm, at least 1.
        fade: Probability that a level fades in a step without indulging.
    """
    pleasure, harm = check_positive("pleasure", pleasure), check_positive("harm", harm)
    levels, fade = check_whole("levels", levels, least=1), check_closed_unit("fade", fade)
    n = levels + 1
    transitions, rewards = np.zeros((n, 2, n)), np.zeros((n, 2))
    for level in range(n):
        cost = harm * level / levels
        rewards[level] = -cost, pleasure - cost
        transitions[level, 0, max(level - 1, 0)] += fade
        transitions[level, 0, level] += 1.0 - fade
        transitions[level, 1, min(level + 1, levels)] = 1.0
    return TabularMDP(
        transitions,
        rewards,
        name="TemptingGood",
        state_names=[f"harm {level}" for level in range(n)],
        action_names=["abstain", "indulge"],
    )


def savings(
    *, wealth: int = 12, most: int = 4, income: int = 1, shock: float = 0.1, loss: int = 4
) -> TabularMDP:
    """Spend now or save, when an expense may come at any time.

    Spending c units pays √c. Then `income` arrives, and with probability `shock` an expense takes up to
    `loss` units; each unit of it that is missing costs 1.

    Args:
        wealth: Largest wealth, and where the task begins.
        most: Most units that can be spent in a step.
        income: Units that arrive per step.
        shock: Probability of an expense per step.
        loss: Units of an expense.
    """
    wealth, most = check_whole("wealth", wealth, least=1), check_whole("most", most, least=1)
    income, loss = check_whole("income", income, least=0), check_whole("loss", loss, least=0)
    shock = check_closed_unit("shock", shock)
    n = wealth + 1
    transitions, rewards = np.zeros((n, most + 1, n)), np.zeros((n, most + 1))
    for held in range(n):
        for wanted in range(most + 1):
            spent = min(wanted, held)
            left = min(held - spent + income, wealth)
            missing = max(loss - left, 0)
            rewards[held, wanted] = math.sqrt(spent) - shock * missing
            transitions[held, wanted, left] += 1.0 - shock
            transitions[held, wanted, max(left - loss, 0)] += shock
    return TabularMDP(
        transitions,
        rewards,
        start=wealth,
        name="Savings",
        state_names=[f"wealth {held}" for held in range(n)],
        action_names=[f"spend {units}" for units in range(most + 1)],
    )


def sooner_later(
    sooner: float = 1.0,
    later: float = 1.5,
    *,
    delay: int = 3,
    front_end_delay: int = 3,
    commitment_cost: float = 0.0,
) -> TabularMDP:
    """Take a smaller reward after a front-end delay, or a larger one some steps after it.

    Before the smaller reward is due there is nothing to decide, unless you commit to the larger one, for a
    cost. At the date you can still take the smaller one: that is where plans break.

    Args:
        sooner: The smaller reward.
        later: The larger reward.
        delay: Steps from the smaller to the larger reward, at least 1.
        front_end_delay: Steps from now to the smaller reward.
        commitment_cost: Cost of committing, paid at once.
    """
    sooner, later = check_positive("sooner", sooner), check_positive("later", later)
    delay, front = (
        check_whole("delay", delay, least=1),
        check_whole("front_end_delay", front_end_delay, least=0),
    )
    cost = check_nonnegative("commitment_cost", commitment_cost)
    # States: 0 … front are open; then come those that wait for the larger reward; then the end.
    last, n = front + delay, front + 1 + front + delay + 1
    end = n - 1
    states = [f"{front - t} to go" for t in range(front)] + ["sooner is due"]
    transitions, rewards = np.zeros((n, 3, n)), np.zeros((n, 3))

    def committed(t: int) -> int:
        return front + t  # the state after t steps, from t = 1 to `last`

    for t in range(front + 1):
        waits = committed(t + 1) if t == front else t + 1
        for action in range(3):
            transitions[t, action, waits] = 1.0
        if t < front:
            transitions[t, 2] = 0.0
            transitions[t, 2, committed(t + 1)], rewards[t, 2] = 1.0, -cost
        else:
            transitions[t, 1] = 0.0
            transitions[t, 1, end], rewards[t, 1] = 1.0, sooner
    for t in range(1, last + 1):
        transitions[committed(t), :, end if t == last else committed(t + 1)] = 1.0
        states.append("later is due" if t == last else f"waiting, {last - t} to go")
    rewards[committed(last)] = later
    transitions[end, :, end] = 1.0
    return TabularMDP(
        transitions,
        rewards,
        terminal=end,
        name="SoonerLater",
        state_names=[*states, "over"],
        action_names=["wait", "take sooner", "commit"],
    )


_STREETS = """
####V#
###...
##D.#.
###.#.
###...
###.#N
....##
S##.##
"""
_RESTAURANTS = {"D": "Donut North", "S": "Donut South", "V": "Veg", "N": "Noodle"}
_DONUT, _VEG, _NOODLE = (10.0, -10.0), (-10.0, 20.0), (0.0, 0.0)
_MOVES = {"up": (0, 1), "down": (0, -1), "left": (-1, 0), "right": (1, 0)}


_FORBIDDEN = 100.0
"""Cost of turning back or walking into a wall, so high that it does not happen."""


def restaurants(
    pays: Mapping[str, tuple[float, float]] | None = None, *, step_cost: float = 0.01
) -> TabularMDP:
    """Walk to a restaurant past another one that tempts: the grid of agentmodels.org, chapter 5.

    Donuts taste good now and bad later, vegetables the other way round. Under the hyperbola 1/(1 + j) with 11
    steps, the naive walker sets out for Veg, and turns into Donut North on the way; the sophisticated one
    takes the longer way round (Evans, Stuhlmüller, Salvatier and Filan 2017). As there, walkers do not turn
    back: that costs 100, as does walking into a wall.

    Args:
        pays: Pay on arrival and one step later, by name: "Donut North", "Donut South", "Veg", "Noodle".
        step_cost: Cost of a step in the streets.

    Example:
        >>> mdp = restaurants()
        >>> mdp.state_label(int(mdp.start.argmax())), mdp.action_names
        ('(3, 1)', ('up', 'down', 'left', 'right'))
    """
    step_cost = check_nonnegative("step_cost", step_cost)
    default = {"Donut North": _DONUT, "Donut South": _DONUT, "Veg": _VEG, "Noodle": _NOODLE}
    for name in pays or {}:
        if name not in default:
            raise ValueError(f"pays must be for {', '.join(default)}; got {name!r}.")
    paid = default | dict(pays or {})
    lines = _STREETS.split()
    cells = {
        (x, len(lines) - 1 - row): mark
        for row, line in enumerate(lines)
        for x, mark in enumerate(line)
        if mark != "#"
    }
    moves = list(_MOVES.values())
    # A state in the streets is a cell and the last move, because walkers do not turn back.
    streets = [cell for cell, mark in sorted(cells.items()) if mark == "."]
    states: list[tuple[tuple[int, int], int | None]] = [((3, 1), None)]
    states += [
        (cell, a)
        for cell in streets
        for a, (dx, dy) in enumerate(moves)
        if cells.get((cell[0] - dx, cell[1] - dy)) == "."
    ]
    at = {state: i for i, state in enumerate(states)}
    names = [f"{cell}" if a is None else f"{cell} going {list(_MOVES)[a]}" for cell, a in states]
    names += [*paid, *(f"after {name}" for name in paid), "home"]
    end = len(names) - 1
    transitions, rewards = np.zeros((end + 1, 4, end + 1)), np.zeros((end + 1, 4))
    for s, ((x, y), last) in enumerate(states):
        for a, (dx, dy) in enumerate(moves):
            mark = cells.get((x + dx, y + dy))
            is_back = last is not None and (dx, dy) == (-moves[last][0], -moves[last][1])
            goes = s if mark is None or is_back else at.get(((x + dx, y + dy), a))
            transitions[s, a, names.index(_RESTAURANTS[str(mark)]) if goes is None else goes] = 1.0
            rewards[s, a] = -(_FORBIDDEN if goes == s else step_cost)
    for name, (now, later) in paid.items():
        here, after = names.index(name), names.index(f"after {name}")
        transitions[here, :, after], rewards[here] = 1.0, float(now)
        transitions[after, :, end], rewards[after] = 1.0, float(later)
    transitions[end, :, end] = 1.0
    return TabularMDP(
        transitions,
        rewards,
        terminal=end,
        name="Restaurants",
        state_names=names,
        action_names=list(_MOVES),
    )
