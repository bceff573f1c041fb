"""What a user asks for: expected runtimes, laws, profiles along positions, curves over n."""
