"""Plan rules: one pure function, plan to plan, a file."""
