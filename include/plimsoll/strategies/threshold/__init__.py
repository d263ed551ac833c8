"""The load that is met with a given chance, with its interval, from few cells.

Sources: an adaptive placement over a grid posterior, as QUEST+ (Watson, QUEST+: A general multidimensional Bayesian
adaptive psychometric method, Journal of Vision 17, 2017), fed with margins beside outcomes.
"""
