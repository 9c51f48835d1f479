"""What the routers of every app share: who asks, what is refused and how, lists in pages."""
