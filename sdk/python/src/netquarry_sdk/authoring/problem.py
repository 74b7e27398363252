"""What an author can mend."""


class Problem(Exception):  # noqa: N818 - it is told to a person
    """One sentence about what is wrong, and one about what to do."""

    def __init__(self, sentence: str, advice: str) -> None:
        super().__init__(f"{sentence}\n  help: {advice}")
        self.sentence = sentence
        self.advice = advice
