"""Title and abstract: what every paper has, without a model (TaxoBench, section 4)."""

from arena.inputs.base import INPUTS, TITLE_ABSTRACT, Input

INPUTS.register(TITLE_ABSTRACT)(Input("Title and abstract; needs no digest.", "Abstract"))
