"""How sensitive each value is to ties and to unjudged documents.

    orders           the best and the worst order of tied documents, and why no other order is better or worse
    expected         closed forms of the expected value over all orders
    sampling         the same by Monte Carlo, for measures without a closed form here
    ties             audit_ties: worst, expected and best value of each measure
    completion       a join in which unjudged documents get a grade
    unjudged         audit_unjudged: the range of each measure over possible judgments of unjudged documents

Every value comes from the measure's own kernel on a changed join; no measure is defined a second time.
"""
