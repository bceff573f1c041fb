"""Where patterns do not decide: values of Q-entries in clusters, and choices enclosed over
policies.
"""
