"""Published benchmarks: what scores a system by their protocols, their sources and questions."""
