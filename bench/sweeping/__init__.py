"""What bench/sweep.py is made of: random cases, their measurement, and their summary."""
