"""HTTP, robots.txt, and strict readers of JSON and XML."""
