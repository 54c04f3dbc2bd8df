"""From a dependence matrix or a factor to groups that people can use."""
