"""The names of the strategies, for the models of strategies and for all code that these models import."""

STRATEGY_NAMES = ("full-grid", "search", "ramp", "threshold")
