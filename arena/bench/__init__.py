"""The benchmark: search engines side by side, checked and then timed (`arena bench`)."""
