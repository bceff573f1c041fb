"""Closed forms and asymptotics with symbols for n and l."""
