"""Rivals of ContextualBandit, without privacy and with joint DP."""
