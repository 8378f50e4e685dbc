"""An nbgrader course: its notebooks, and what nbgrader's own commands call in place of a kernel.

No cell of a student ever runs. A notebook is rebuilt from the released one, keeping the written
answers, and its graded cells are filled with the grader's verdicts on the modules beside it.
"""
