"""The Cypher engine: tokens, clauses, bind, plan, rules, operators."""
