"""Stories for the command line: each computes a result in one module and shows it in another.

What they share, a folder for picture and numbers and a console for tables, is a `Page`.
"""
