"""nbgrader's settings for this course: run nbgrader in this folder.

The student's form of an assignment: nbgrader generate_assignment fleet_orch
"""

import os

c = get_config()  # noqa: F821 (Jupyter defines it)

c.CourseDirectory.course_id = "fleetlab"
c.CourseDirectory.root = os.path.dirname(os.path.abspath(__file__))
c.CourseDirectory.ignore = [".ipynb_checkpoints", "*.pyc", "__pycache__", "*.new-version*"]

# What a student sees in place of a solution. In Go, a panic ends a function of any signature.
c.ClearSolutions.code_stub = {
    "go": '// YOUR CODE HERE\npanic("not implemented")',
    "python": "# YOUR CODE HERE\nraise NotImplementedError()",
}
c.ClearSolutions.text_stub = "YOUR ANSWER HERE"

# One cell, the compiler included. nbgrader's own 30 s can be short on a busy machine with a cold cache.
c.Execute.timeout = 120
# A kernel that says nothing for this long is dead.
c.Execute.startup_timeout = 120

# nbgrader would fill a removed cell in with a "# " comment, which is no Go.
c.OverwriteCells.add_missing_cells = False
