"""The program that runs on a host itself, this machine or another: Python 3.9 or later and its standard library,
nothing else.

On another machine these files are a program of their own (`python3 FOLDER COMMAND`); they import only one another.
"""
