from __future__ import annotations

import csv
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sojourn as sj
from sojourn.laws import closest_geometric
from sojourn.sessions import (
    SAMPLES,
    SessionLog,
    StepLog,
    analyze,
    read_log,
    read_sessions,
    read_steps,
    sample_path,
)
from sojourn.sessions.advice._groups import group_words
from sojourn.sessions.analysis._price import held_out_loss

HEAD = "episode,step,state,action,reward,ended\n"


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def test_steps_become_a_problem_and_lengths(tmp_path):
    rows = "a,1,x,go,1,0\na,2,y,go,0.5,1\nb,2,x,stay,0,0\nb,1,x,go,3,0\nb,3,x,go,0,0\nc,1,y,stay,2,1\n"
    log = read_steps(write(tmp_path / "log.csv", HEAD + rows))
    assert log.states == ("x", "y")
    assert log.actions == ("go", "stay")
    assert log.step.tolist() == [1, 2, 1, 2, 3, 1]
    sessions = log.sessions()
    assert sessions.lengths.tolist() == [1, 2, 3]
    assert sessions.observed.tolist() == [True, True, False]
    # Last steps have no observed next state: (x, go) is left with x → y paying 1 and x → x paying 3.
    mdp = log.problem(unvisited="stay")
    assert mdp.rewards[0].tolist() == [2.0, 0.0]
    assert mdp.successors(0, 0)[1].tolist() == [0.5, 0.5]
    np.testing.assert_allclose(mdp.start, [2 / 3, 1 / 3])
    assert (log.account.n_rows, log.account.n_used, log.account.n_rejected) == (6, 6, 0)


def test_steps_with_states_but_no_actions_show_whether_leaving_depends_on_the_state():
    table = {"episode": [1, 1, 2, 2, 3], "step": [1, 2, 1, 2, 1], "ended": [0, 1, 0, 0, 1]}
    log = read_steps(table | {"state": list("xyxyy")})
    assert (log.states, log.actions) == (("x", "y"), ())
    # At step 1 one of three leaves, and two of them are in x; at step 2 the only one at risk is in y.
    np.testing.assert_allclose(log.leaving_by_state().ratios, [0.0, 2.0 / (1.0 / 3.0 + 1.0)])
    with pytest.raises(ValueError, match="must have the columns 'state', 'action' and 'reward'"):
        log.problem()
    with pytest.raises(ValueError, match="must have a column 'reward'"):
        read_steps(table | {"state": list("xyxyy"), "action": list("aaaaa")})


def test_terminal_states_censor_the_length_and_end_the_problem(tmp_path):
    head = HEAD.strip() + ",terminated\n"
    log = read_steps(write(tmp_path / "log.csv", head + "1,1,s,a,1,0,0\n1,2,s,a,5,0,1\n2,1,s,a,1,1,0\n"))
    assert log.sessions().observed.tolist() == [True, False]
    mdp = log.problem()
    assert mdp.terminal == (1,)
    assert mdp.rewards[0, 0] == 3.0


def test_episodes_with_a_wrong_row_are_left_out_whole(tmp_path):
    rows = (
        "a,1,x,go,1,0\na,2,x,go,?,1\n"  # not a reward
        "b,1,x,go,1,0\nb,3,x,go,1,1\n"  # step 2 is missing
        "c,1,x,go,1,1\nc,2,x,go,1,0\n"  # continues after its end
        "d,0,x,go,1,1\n"
        "e,1,,go,1,1\n"
        "f,1,x\n"
        "g,1,x,go,1,1\n"
    )
    log = read_steps(write(tmp_path / "log.csv", HEAD + rows))
    assert (log.account.n_rows, log.account.n_used, log.account.n_rejected) == (10, 1, 9)
    assert [str(one) for one in log.account.first_rejected] == [
        "row 2: a row of its episode is rejected.",
        "row 3: reward must be a finite number; got '?'.",
        "row 4: an episode's steps must be 1, 2, 3, …, each once.",
        "row 5: an episode's steps must be 1, 2, 3, …, each once.",
        "row 6: an episode must end at its last step only.",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it is empty"),
        (HEAD, "it has only a header row"),
        ("episode,step,state,action,reward\n", "must have a column 'ended'."),
        (HEAD + "a,1,x,go,nan,1\n", "all 1 are rejected, row 2: reward must be a finite number; got 'nan'."),
    ],
)
def test_logs_without_a_step_are_refused(text, message, tmp_path):
    with pytest.raises(ValueError, match=r"\A[^\n]*\Z") as caught:
        read_steps(write(tmp_path / "log.csv", text))
    assert message in str(caught.value)


def test_long_lines_and_missing_files_are_refused(tmp_path):
    path = write(tmp_path / "log.csv", HEAD + "a" * (1 << 21) + "\nb,1,x,go,1,1\n")
    assert read_steps(path).account.n_rejected == 1
    path = write(tmp_path / "log.csv", HEAD + "a" * 200_000 + "\nb,1,x,go,1,1\n")
    assert read_steps(path).account.n_rejected == 1
    with pytest.raises(ValueError, match="source must be a file that exists"):
        read_steps(tmp_path / "nothing.csv")


def test_dependence_of_leaving_on_the_state_is_detected(tmp_path):
    rng = np.random.default_rng(0)
    for unequal in (False, True):
        lines = []
        for episode in range(1_500):
            for step in range(1, 200):
                state = rng.choice(["calm", "angry"])
                over = rng.random() < (0.3 if unequal and state == "angry" else 0.1)
                lines.append(f"{episode},{step},{state},a,0,{int(over)}\n")
                if over:
                    break
        test = read_steps(write(tmp_path / "log.csv", HEAD + "".join(lines))).leaving_by_state()
        assert test.depends == unequal
        # By hand: at each step the expected ends are shared by the states in proportion to their numbers.
        assert sum(test.ended) == 1_500
        assert sum(test.expected) == pytest.approx(1_500)


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_sample_logs_are_what_their_generator_makes(name):
    assert sample_path(name).read_text(encoding="utf-8") == SAMPLES[name].generate()
    if name == "shop":
        assert read_steps(sample_path(name)).account.n_rejected == 0
        with pytest.raises(ValueError, match="read_steps"):
            read_sessions(sample_path(name))
    else:
        assert read_sessions(sample_path(name)).account.n_rejected == 0


def test_unknown_samples_are_refused():
    with pytest.raises(ValueError, match=r"^Unknown sample 'streming'. Did you mean 'streaming'\?$"):
        sample_path("streming")


def test_the_law_behind_a_sample_is_recovered():
    # The generator draws from BetaGeometric(2.2, 5): the fit must be within three standard errors.
    found = analyze(read_sessions(sample_path("streaming"))).ranked("beta_geometric").fit
    for name, truth in (("a", 2.2), ("b", 5.0)):
        assert abs(found.parameters[name] - truth) < 3.0 * found.standard_errors[name]
    course = analyze(read_sessions(sample_path("course"))).best.fit
    assert course.family == "mixture"
    assert course.parameters["gamma_2"] == pytest.approx(0.97, abs=3 * course.standard_errors["gamma_2"])
    assert sj.parse_law(repr(course.law)) == course.law


def test_rows_of_the_wrong_size_are_rejected_with_their_episode(tmp_path):
    rows = (
        "a,1,x,go,1,0\na,2,Doe, Jane,go,1,1\n"  # an unquoted comma shifts the later cells
        "b,1,x,go,1,0\nb,2,x,go,1,1,\n"
        "c,1,x,go,1,0\nc,2,x,go,1\n"
        "d,1,x,go,1,1\n"
    )
    log = read_steps(write(tmp_path / "log.csv", HEAD + rows))
    assert (log.account.n_rows, log.account.n_used, log.account.n_rejected) == (7, 1, 6)
    assert [str(one) for one in log.account.first_rejected][1::2] == [
        "row 3: a row must have 6 cells; got 7.",
        "row 5: a row must have 6 cells; got 7.",
    ]


def test_rare_states_are_pooled(tmp_path):
    lines = []
    for episode in range(3_000):
        state = f"s{episode % 40:02}" if episode < 400 else f"s{episode % 20:02}"
        lines.append(f"{episode},1,{state},a,0,{episode % 2}\n")
        if not episode % 2:
            lines.append(f"{episode},2,{state},a,0,1\n")
    lines.append("".join(f"long,{step},s00,a,0,0\n" for step in range(1, 2_000)))
    log = read_steps(write(tmp_path / "log.csv", HEAD + "".join(lines)))
    test = log.leaving_by_state()
    assert len(log.states) == 40
    assert len(test.sizes) == 30
    assert test.pooled == 11
    assert sum(test.ended) == 3_000
    assert sum(test.expected) == pytest.approx(3_000)
    assert sum(test.sizes) == log.step.size - 1  # the open episode is not at risk at its last step


def test_many_states_and_steps_take_little_memory(tmp_path):
    import tracemalloc

    lines = [f"{i},1,s{i},a,0,1\n" for i in range(3_000)]
    lines += [f"long,{step},s0,a,0,{int(step == 20_000)}\n" for step in range(1, 20_001)]
    log = read_steps(write(tmp_path / "log.csv", HEAD + "".join(lines)))
    tracemalloc.start()
    log.leaving_by_state()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20e6  # 3,000 × 20,000 numbers would be 480 MB


@pytest.mark.parametrize("mark", [";", "\t", "|"])
def test_step_logs_may_use_other_delimiters(mark, tmp_path):
    rows = 'a,1,x,go,1,0\na,2,"y",go,0.5,1\nc,1,y,stay,2,1\n'
    plain = read_steps(write(tmp_path / "plain.csv", HEAD + rows))
    path = write(tmp_path / "log.csv", (HEAD + rows).replace(",", mark))
    assert isinstance(read_log(path), StepLog)
    log = read_steps(path)
    assert (log.states, log.actions) == (plain.states, plain.actions) == (("x", "y"), ("go", "stay"))
    assert log.reward.tolist() == plain.reward.tolist() == [1.0, 0.5, 2.0]
    assert log.account.n_used == 3


def test_multiline_cells_are_read(tmp_path):
    text = HEAD + 'a,1,"two\nlines, and ""more""",go,1,0\na,2,x,"go\n\non",0.5,1\n\nb,1,x,go,2,1\n'
    for newline in ("\n", "\r\n"):
        path = tmp_path / "log.csv"
        path.write_bytes(text.replace("\n", newline).encode())
        log = read_steps(path)
        assert (log.account.n_rows, log.account.n_used, log.account.n_rejected) == (3, 3, 0)
        assert [state.replace("\r", "") for state in log.states] == ['two\nlines, and "more"', "x"]
        assert [action.replace("\r", "") for action in log.actions] == ["go", "go\n\non"]


@pytest.mark.parametrize(
    ("rows", "used", "message"),
    [
        # Never closed: that line is lost, and with it its episode.
        ('a,1,x,go,1,0\na,2,"x,go,1,1\nb,1,x,go,1,1\n', 1, ["2", "row 3: a quote must be closed."]),
        ('b,1,x,go,1,1\na,1,"x,go,1,1', 1, ["row 3: a quote must be closed."]),
        # Closed by chance in another row: each line is a row of its own.
        (
            'a,1,"x,go,1,1\nb,1,x,go,1,1\nc,1,"x,go,1,1\n',
            1,
            ["row 2: a quote must be closed.", "row 4: a quote must be closed."],
        ),
        ('"a,1,x,go,1,1\n"b,1,x,go,1,1\nc,1,x,go,1,1\n', 1, ["row 2: a quote", "row 3: a quote"]),
        # Closed, but too many cells.
        ('a,1,"x\ny",go,1,1,9\nb,1,x,go,1,1\n', 1, ["row 2: a quote", "row 3: a quote"]),
        (
            'a,1,"' + "x\n" * 40_000 + '",go,1,1\nb,1,x,go,1,1\n',
            1,
            ["row 2: a quote", "row 3: a row must have"],
        ),
    ],
)
def test_an_unclosed_quote_loses_only_its_line(rows, used, message, tmp_path):
    account = read_steps(write(tmp_path / "log.csv", HEAD + rows)).account
    assert account.n_rows == account.n_used + account.n_rejected
    assert account.n_used == used
    for start, one in zip(message, account.first_rejected, strict=False):
        assert start in str(one)


def test_words_that_differ_in_trailing_zero_bytes_stay_apart(tmp_path):
    rows = "a,1,x,go,1,1\nb,1,x\0,go,5,1\nc,1,x\0\0,go\0,9,1\n"
    log = read_steps(write(tmp_path / "log.csv", HEAD + rows))
    assert log.states == ("x", "x\0", "x\0\0")
    assert log.actions == ("go", "go\0")
    assert log.state.tolist() == [0, 1, 2]
    assert SessionLog.from_columns([3, 4], group=["x", "x\0"]).n_groups == 2


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_of_steps_are_read_or_refused(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("any") / "log.csv"
    path.write_bytes(HEAD.encode() + b"an episode that nothing else names,1,x,go,1,1\n" + content)
    account = read_steps(path).account
    assert account.n_rows == account.n_used + account.n_rejected
    assert account.n_used >= 1


words = st.text(alphabet='ab",;\n é', min_size=1, max_size=6).filter(lambda word: word.strip())


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(words, words), min_size=1, max_size=12))
def test_well_formed_step_logs_are_read_like_the_csv_module_writes_them(tmp_path_factory, pairs):
    path = tmp_path_factory.mktemp("csv") / "log.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEAD.strip().split(","))
        writer.writerows((k, 1, state, action, 0.5, 1) for k, (state, action) in enumerate(pairs))
    log = read_steps(path)
    assert log.account.n_used == log.account.n_rows == len(pairs)
    found = [(log.states[s], log.actions[a]) for s, a in zip(log.state, log.action, strict=True)]
    assert found == [(state.strip(), action.strip()) for state, action in pairs]


@pytest.mark.parametrize(
    "text",
    [
        HEAD + "a,1,x,go,1,0\na,2," + "y" * (1 << 21) + ",go,1,1\nb,1,x,go,1,1\n",
        "step,state,action,reward,ended,episode\n1,x,go,1,0,a\n2,x,go,1,1\n1,x,go,1,1,b\n",
    ],
    ids=["a row that is too long", "the episode's cell is missing"],
)
def test_an_unfinished_episode_before_an_unassigned_row_is_left_out(text, tmp_path):
    log = read_steps(write(tmp_path / "log.csv", text))
    assert (log.account.n_rows, log.account.n_used) == (3, 1)
    assert log.ended.tolist() == [True]  # it would be an open episode of one step otherwise
    assert "The episode of 1 row is unknown:" in log.account.notes[0]
    assert read_steps(write(tmp_path / "log.csv", HEAD + "b,1,x,go,1,1\nc,1\n")).account.notes == ()


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ("episode,step,state,state,action,reward,ended", "must have one column 'state'; it has 2."),
        (
            "Stepan,42,Episodio,b,0,1",
            "must have a column 'episode'; its first row, of 6 cells, does not look",
        ),
        ("epsode,step,state,action,reward,ended", "a column 'episode'. Did you mean 'epsode'?"),
    ],
)
def test_bad_header_rows_get_a_one_line_error(names, message, tmp_path):
    with pytest.raises(ValueError, match=r"\A[^\n]*\Z") as caught:
        read_steps(write(tmp_path / "log.csv", f"{names}\na,1,x,y,go,1,1\n"))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("b,1,x,go,1_000,1", "row 3: reward must be a finite number; got '1_000'."),
        ("b,1,x,go,٣,1", "row 3: reward must be a finite number; got '٣'."),
        ("b,1,x\ry,go,1,1", "row 3: a carriage return within a row must be in quotes."),
    ],
)
def test_ambiguous_cells_are_refused(row, message, tmp_path):
    path = tmp_path / "log.csv"
    path.write_bytes(f"{HEAD}a,1,x,go,1,1\n{row}\n".encode())
    assert [str(one) for one in read_steps(path).account.first_rejected] == [message]


def test_halves_and_merged_rows_keep_every_step():
    log = read_steps(sample_path("shop"))
    merged = log.merged()
    assert merged.step.size < log.step.size
    assert merged.counts.sum() == log.step.size
    assert merged.problem() == log.problem()
    assert merged.sessions().sample.n == log.sessions().sample.n
    first, second = merged.halves(np.random.default_rng(0))
    assert first.counts.sum() + second.counts.sum() == log.step.size
    assert abs(first.counts.sum() - second.counts.sum()) < 5 * np.sqrt(log.step.size)
    assert merged.resampled(np.random.default_rng(0)).counts.sum() == log.step.size


def test_the_loss_on_steps_that_were_not_used_to_plan_covers_the_truth():
    log = read_steps(sample_path("shop"))
    low, high = held_out_loss(log.merged(), best_fit, resamples=4, seed=0)
    # By the generator: an offer sells for 2 with these chances and costs a level of interest.
    n, sells = 4, (0.1, 0.15, 0.3, 0.8)
    moves, rewards = np.zeros((n, 2, n)), np.zeros((n, 2))
    for level in range(n):
        moves[level, 0, max(level - 1, 0)] = 1.0
        moves[level, 1, level] += 0.5
        moves[level, 1, min(level + 1, n - 1)] += 0.5
        rewards[level, 0] = 2.0 * sells[level]
    truth = sj.TabularMDP(moves, rewards)
    law = sj.BetaGeometric(1.7, 2.5)
    usual = sj.plan(truth, closest_geometric(best_fit(log.sessions()).law))
    loss = sj.plan(truth, law).value[0] - sj.evaluate(truth, law, usual.policy, after=usual.after).value[0]
    assert 0.0 < low < loss < high


def best_fit(log):
    return sj.fit(log.lengths, log.observed, counts=log.counts, family="beta_geometric")


def test_the_interval_of_the_loss_includes_the_uncertainty_of_the_law():
    # Rewards and transitions are deterministic: only the law of lengths varies from sample to sample.
    rng, rows = np.random.default_rng(11), []
    for episode in range(300):
        state, step, ended = 0, 1, False
        while not ended:
            sells = int(rng.random() < 0.5)
            reward = (1.0, 2.0, 4.0, 7.0)[state] if sells else 0.0
            ended = bool(rng.random() < (0.55 if step <= 2 else 0.06))
            rows.append((episode, step, state, sells, reward, ended))
            state, step = (0 if sells else min(state + 1, 3)), step + 1
    names = ("episode", "step", "state", "action", "reward", "ended")
    log = read_steps(
        {name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}
    )
    low, high = held_out_loss(log.merged(), best_fit, resamples=10, seed=0)
    assert high - low > 0.1


@pytest.mark.parametrize("bonus", [0.0, 0.5])
def test_rewards_of_last_steps_that_a_problem_leaves_out_are_compared(bonus):
    rng = np.random.default_rng(0)
    rows = [
        (episode, step, int(rng.integers(2)), int(rng.integers(2)), step == n)
        for episode, n in enumerate(rng.geometric(0.3, 200).tolist())
        for step in range(1, n + 1)
    ]
    table = dict(zip(("episode", "step", "state", "action", "ended"), zip(*rows, strict=True), strict=True))
    pay = [a + rng.integers(3) + bonus * last for *_, a, last in rows]
    found = read_steps(table | {"reward": pay}).rewards_left_out()
    if not bonus:
        assert found is None
        return
    assert found is not None
    usual = {
        key: np.mean([p for p, row in zip(pay, rows, strict=True) if row[2:] == (*key, False)])
        for key in {row[2:4] for row in rows}
    }
    last = [(p, usual[row[2:4]]) for p, row in zip(pay, rows, strict=True) if row[4]]
    np.testing.assert_allclose(found, np.mean(last, axis=0))


def test_a_missing_pair_of_state_and_action_is_named_as_in_the_log():
    columns = {
        "episode": [1, 1, 1, 2, 2, 2],
        "step": [1, 2, 3, 1, 2, 3],
        "state": [7, 8, 7, 8, 7, 8],
        "action": [0, 0, 0, 0, 1, 0],
        "reward": [0.0] * 6,
        "ended": [0, 0, 1, 0, 0, 1],
    }
    with pytest.raises(ValueError, match="it never has action '1' in state '8'"):
        read_steps(columns).problem()


def test_sessions_that_the_problem_ended_are_not_called_open():
    rng = np.random.default_rng(0)
    rows = [(i, n, rng.random() < 0.5) for i, n in enumerate(rng.geometric(0.3, 200))]
    steps = [(i, h, h == n and not t, h == n and t) for i, n, t in rows for h in range(1, n + 1)]
    names = ("episode", "step", "ended", "terminated")
    columns = {name: list(column) for name, column in zip(names, zip(*steps, strict=True), strict=True)}
    n_steps = len(steps)
    columns |= {"state": ["x"] * n_steps, "action": ["go"] * n_steps, "reward": [0.0] * n_steps}
    text = dict(analyze(read_steps(columns).sessions()).advice())["The sessions"]
    assert "are open, or ended by the problem (terminated)" in text
    assert "what follows is about sessions that nothing terminates" in text


def test_leaving_that_depends_on_the_action_is_found():
    # By hand: "hard" ends half of the sessions at a step, "soft" 2%, in two states that do not matter.
    rng = np.random.default_rng(1)
    rows = []
    for episode in range(400):
        for step in range(1, 200):
            action, state = rng.choice(["hard", "soft"]), rng.choice(["x", "y"])
            ends = rng.random() < (0.5 if action == "hard" else 0.02)
            rows.append((episode, step, state, action, 1.0, ends))
            if ends:
                break
    names = ("episode", "step", "state", "action", "reward", "ended")
    log = read_steps(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))
    assert log.leaving_by_state().p_value > 0.01
    test = log.leaving_test()
    assert (test.what, test.p_value < 1e-10) == ("action", True)
    n_hard = sum(row[3] == "hard" for row in rows)
    assert test.sizes == (n_hard, len(rows) - n_hard)
    advice = dict(analyze(log.sessions(), test=test).advice())
    assert advice["In short"].startswith("Leaving depends on the action, so no law of lengths is a discount")
    assert "the end depends on what the agent does" in advice["Actions"]
    assert read_steps(sample_path("shop")).leaving_test().what == "state"


def test_leaving_that_depends_on_state_and_action_names_both():
    rng = np.random.default_rng(2)
    rows = []
    for episode in range(300):
        for step in range(1, 300):
            action, state = rng.choice(["hard", "soft"]), rng.choice(["x", "y"])
            ends = rng.random() < (0.4 if action == "hard" else 0.05) * (1.5 if state == "x" else 0.5)
            rows.append((episode, step, state, action, 1.0, ends))
            if ends:
                break
    names = ("episode", "step", "state", "action", "reward", "ended")
    log = read_steps(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))
    test, by_state = log.leaving_test(), log.leaving_by_state()
    assert (test.what, test.other) == ("action", by_state)
    found = analyze(log.sessions(), test=test)
    assert "It depends on the state, too (log-rank χ² = " in dict(found.advice())["Actions"]
    assert found.as_dict()["groups"]["other"]["of"] == "state"


def test_states_that_leave_early_or_late_are_found_to_differ():
    rng = np.random.default_rng(0)
    rows = []
    for episode in range(600):
        state = "uv"[episode % 2]
        for step in range(1, 300):
            early, late = (0.25, 0.08) if state == "u" else (0.12, 0.27)
            ends = rng.random() < (early if step <= 4 else late)
            rows.append((episode, step, state, ends))
            if ends:
                break
    columns = dict(
        zip(("episode", "step", "state", "ended"), map(list, zip(*rows, strict=True)), strict=True)
    )
    test = read_steps(columns).leaving_test()
    assert test.depends or test.crosses
    assert test.by_range.p_value < 1e-6


def test_states_that_never_meet_at_a_step_are_not_tested():
    rng = np.random.default_rng(0)
    rows = [
        (episode, step, "early" if step < 4 else "late", step == n)
        for episode, n in enumerate(rng.geometric(0.2, 300).tolist())
        for step in range(1, n + 1)
    ]
    columns = dict(
        zip(("episode", "step", "state", "ended"), map(list, zip(*rows, strict=True)), strict=True)
    )
    assert read_steps(columns).leaving_test() is None


def test_rewards_whose_points_may_separate_thousands_are_rejected(tmp_path):
    path = tmp_path / "steps.csv"
    rows = ["1;1;s;a;0,5;0", "1;2;s;a;0,7;1", "2;1;s;a;1.250;1", "3;1;s;a;1,5;1"]
    path.write_text("\n".join(["episode;step;state;action;reward;ended", *rows]), encoding="utf-8")
    log = read_steps(path)
    assert (sorted(log.reward.tolist()), log.account.n_rejected) == ([0.5, 0.7, 1.5], 1)


@pytest.mark.parametrize("unit", [1e-7, 1e-12])
def test_the_unit_of_rewards_does_not_change_what_a_single_discount_costs(unit):
    log = read_steps(sample_path("shop"))
    scaled = replace(log, reward=unit * log.reward)
    one, other = (analyze(each.sessions(), problem=each.problem()).price for each in (log, scaled))
    assert other.loss / other.best == pytest.approx(one.loss / one.best, rel=1e-4)
    assert not other.is_free


def test_states_are_numbered_among_all_of_them(tmp_path):
    # Of 40 states the rarest 11 are pooled; more episodes than elsewhere end in the 36th by name, s35.
    rng = np.random.default_rng(0)
    chances = np.where(np.arange(40) % 4 == 0, 0.2, 1.0)
    chances[35] = 3.0
    visited = rng.choice(40, 6_000, p=chances / chances.sum())
    ended = rng.random(6_000) < np.where(visited == 35, 0.5, 0.1)
    rows = [
        f"{i},{step},s{state:02},{int(end and step == 1)}"
        for i, (state, end) in enumerate(zip(visited, ended, strict=True))
        for step in range(1, 3 - end)
    ]
    test = read_steps(
        write(tmp_path / "log.csv", "\n".join(["episode,step,state,ended", *rows]))
    ).leaving_by_state()
    assert test.pooled == 11
    assert max(zip(test.ratios, test.names, strict=True))[1] == "36"
    assert "state no. 36 ends" in group_words(test)
    assert test.names[-1] == "all others"
    assert "the 11 rarest states together" in group_words(replace(test, ended=(*test.ended[:-1], 5_000)))
