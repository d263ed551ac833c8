"""What is done to running nodes under load: a module for each kind of action.

An action is a number of moves, one after the other. Every move is found again by the jobs that it left on the hosts.
"""
