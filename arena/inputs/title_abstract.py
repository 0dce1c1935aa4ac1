"""Title and abstract, without a model (TaxoBench, section 4)."""

from arena.inputs.base import INPUTS, Input

INPUTS.register("title_abstract")(Input("Title and abstract; needs no digest.", "Abstract"))
