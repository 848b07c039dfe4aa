"""Blackjack as Gymnasium plays it by default, written down as tables: an infinite deck, no naturals.

Independent of the environment's code: a hand is (sum with an ace as 11 if that fits, whether it does so).
"""

from __future__ import annotations

import numpy as np

CARDS = [(card, 1 / 13) for card in range(1, 10)] + [(10, 4 / 13)]


def draw(hand, card):
    """Return the hand after one more card."""
    total, soft = hand
    total += card
    if card == 1 and not soft and total + 10 <= 21:
        return total + 10, True
    if soft and total > 21:
        return total - 10, False
    return total, soft


def dealt():
    """Return the chance of each first hand of two cards."""
    chances = {}
    for first, p in CARDS:
        for second, q in CARDS:
            hand = draw(draw((0, False), first), second)
            chances[hand] = chances.get(hand, 0.0) + p * q
    return chances


def dealer_totals(hand):
    """Return the chance of each total at which the dealer stops, 22 for more than 21."""
    if hand[0] > 21:
        return {22: 1.0}
    if hand[0] >= 17:
        return {hand[0]: 1.0}
    chances = {}
    for card, p in CARDS:
        for total, q in dealer_totals(draw(hand, card)).items():
            chances[total] = chances.get(total, 0.0) + p * q
    return chances


def tables():
    """Return transitions, rewards, start and the states: tuples as observed, and the end last."""
    states = [
        (total, shown, int(soft))
        for soft in (False, True)
        for total in range(12 if soft else 4, 22)
        for shown in range(1, 11)
    ]
    number, end = {state: i for i, state in enumerate(states)}, len(states)
    transitions, rewards = np.zeros((end + 1, 2, end + 1)), np.zeros((end + 1, 2))
    transitions[end, :, end] = 1.0
    for (total, shown, soft), i in number.items():
        transitions[i, 0, end] = 1.0
        dealer = dealer_totals_shown(shown)
        rewards[i, 0] = sum(
            p * (1 if stop == 22 or total > stop else -1 if total < stop else 0) for stop, p in dealer.items()
        )
        for card, p in CARDS:
            after, still = draw((total, bool(soft)), card)
            if after > 21:
                transitions[i, 1, end] += p
                rewards[i, 1] -= p
            else:
                transitions[i, 1, number[after, shown, int(still)]] += p
    start = np.zeros(end + 1)
    for hand, p in dealt().items():
        for shown, q in CARDS:
            start[number[hand[0], shown, int(hand[1])]] += p * q
    return transitions, rewards, start, [*states, None]


def dealer_totals_shown(shown):
    """Return where the dealer stops, given the card that is seen."""
    chances = {}
    for hidden, p in CARDS:
        for total, q in dealer_totals(draw(draw((0, False), shown), hidden)).items():
            chances[total] = chances.get(total, 0.0) + p * q
    return chances
