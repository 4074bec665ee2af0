"""Loops from one format to another: what they have in common is kept (`gist`), the rest is told as lost.

Reading: from_workflow, from_role_loop, from_assistant. Writing: to_workflow, to_role_loop,
to_assistant. Nothing here touches the disk.
"""
