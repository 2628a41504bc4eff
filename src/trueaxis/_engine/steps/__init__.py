"""Steps of the methods that do not weight rows by a rule."""
