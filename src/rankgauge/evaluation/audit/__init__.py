"""How far a number can be trusted.

    orders           the best and the worst order of tied documents, and why no other is better or worse
    expected         closed forms of the value that is expected over all their orders
    sampling         the same by Monte Carlo, for measures that have no closed form here
    ties             audit_ties: worst, expected and best value of each measure
    completion       unjudged documents that get a grade
    unjudged         audit_unjudged: what the documents that nobody judged could make of each measure

Every value is that of the measure's own kernel on a join that was changed; no measure is defined a second time.
"""
