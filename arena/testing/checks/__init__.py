"""The contract checks of `arena check`, grouped by what they are about.

To add one, add a module to this package, or declare an entry point of the group
``researcharena.checks``:

    @CHECKS.register("titles")
    def titles(subject: Subject) -> str:
        ...
        return "what was checked"
"""
