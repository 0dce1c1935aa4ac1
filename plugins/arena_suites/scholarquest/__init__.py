"""ScholarQuest: questions of four intents; only its scores, since its files are not public."""
