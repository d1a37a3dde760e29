"""All policies: each operates one type of task, and sees nothing but what afd answers."""

import policies_clicks
import policies_controls
import policies_dates
import policies_drag
import policies_forms
import policies_mail
import policies_motion
import policies_pictures
from registry import POLICIES

MODULES = (
    policies_clicks,
    policies_controls,
    policies_dates,
    policies_drag,
    policies_forms,
    policies_mail,
    policies_motion,
    policies_pictures,
)

__all__ = ["MODULES", "POLICIES"]
