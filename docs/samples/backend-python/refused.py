class Refused(Exception):
    """A request that must not pass. `status` is 401, or 503 while no decision is possible."""

    def __init__(self, status):
        super().__init__(status)
        self.status = status
