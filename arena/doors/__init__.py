"""Doors: the environments and the library, as other frameworks take them."""
