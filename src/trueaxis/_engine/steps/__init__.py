"""Steps of the methods that do more than weight rows by a rule."""
