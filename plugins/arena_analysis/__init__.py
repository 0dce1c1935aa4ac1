"""What runs say beyond their scores: credit of calls, noise, difficulty of topics, stopping."""
