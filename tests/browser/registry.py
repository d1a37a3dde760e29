"""The table of policies: which function performs which type of task."""

POLICIES = {}


def policy(*names):
    """Registers a function as the policy of the task types `names`."""

    def register(function):
        """Adds a function to the table."""
        for name in names:
            POLICIES[name] = function
        return function

    return register
