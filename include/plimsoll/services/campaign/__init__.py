"""A campaign as a whole: requests for runs, the choice of cells, and the process that runs them."""
