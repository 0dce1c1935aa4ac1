"""A toolkit for this package and for plug-ins: files, directories, tables, options, threads.

Each module lists what it offers in ``__all__``; nothing here knows papers, tasks or agents.
"""
