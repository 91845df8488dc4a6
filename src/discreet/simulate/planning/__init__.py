"""`discreet plan`: the search (`search.py`), and one case per problem (`cases.py`)."""
