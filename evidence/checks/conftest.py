from experiments.conftest import store, tiny_store, write  # noqa: F401, because pytest uses these fixtures
