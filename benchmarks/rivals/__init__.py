"""What ContextualBandit is compared with: rivals without privacy, and rivals with joint DP."""
