"""How sensitive each value is to ties and to unjudged documents.

    ties             audit_ties: worst and best value of each measure over the orders of tied documents
    unjudged         audit_unjudged: the range of each measure over possible judgments of unjudged documents
    audited_values   one value per query, and one over all averaged queries

Every value comes from the measure's own kernel on a changed join; no measure is defined a second time.
"""
