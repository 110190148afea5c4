"""What every program that has a model can ask about causes: three methods, which import torch when they are called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from model.inspection.intervention import Interventions, interventions_of

if TYPE_CHECKING:
    from model.causes.causes import Causes
    from model.causes.reading import Text
    from model.causes.records import Attributed, Inspected, Patched
    from model.loaded import LoadedModel


class Explained:
    """Whoever has a loaded model; the answers are frozen records, whose `document()` is ready for JSON."""

    loaded: LoadedModel

    def inspect(
        self, text: Text, *, source: Text = "", interventions: Interventions = (), sublayers: bool = False
    ) -> Inspected:
        """What each layer would predict after each token of a text, and what each head looks at.

        Args:
            text: or its ids. For a translator: the translation; `source` is then what its encoder reads.
            sublayers: also read the stream between attention and feed-forward of each layer.
        """
        changes = interventions_of(interventions)
        return self._causes.inspect(text, source=source, interventions=changes, sublayers=sublayers)

    def attribute(
        self,
        text: Text,
        chosen: str | int | None = None,
        rival: str | int | None = None,
        *,
        source: Text = "",
        steps: int | None = 30,
    ) -> Attributed:
        """Which words and parts speak for the chosen token after a text (None: the likeliest) and against a rival.

        Args:
            steps: of integrated gradients; 0: gradient times input; None: none, as weights in few bits have none.
        """
        return self._causes.attribute(text, chosen, rival, source=source, steps=steps)

    def patch(
        self,
        clean: Text,
        corrupted: Text,
        answer: str | int | None = None,
        rival: str | int | None = None,
        *,
        source: Text = "",
        corrupted_source: Text = "",
    ) -> Patched:
        """How far each part of a clean text, put into a corrupted one, brings back the answer instead of the rival;
        None: the likeliest token after either text, which must have equally many."""
        sources = {"source": source, "corrupted_source": corrupted_source}
        return self._causes.patch(clean, corrupted, answer, rival, **sources)

    @property
    def _causes(self) -> Causes:
        from model.causes.causes import Causes

        return Causes(self.loaded)
