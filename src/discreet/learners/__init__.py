"""What learns from people: one folder a learner, named after it; inside, one file a way of
learning.
"""
