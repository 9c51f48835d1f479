"""What a campaign asks, as data: forms of questions, their templates, and the check of answers.
Pure: no Django here.

``schema`` has the dataclasses, ``reading`` makes them of YAML or JSON, ``answers`` checks what a
rater sends, ``templates`` has published protocols.
"""
