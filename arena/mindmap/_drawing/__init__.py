"""The picture of a mind-map: letters measured, labels wrapped, boxes placed, SVG written."""
