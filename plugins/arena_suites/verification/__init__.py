"""Are the statements of reports true? Models compare them with what they cite, and vote."""
