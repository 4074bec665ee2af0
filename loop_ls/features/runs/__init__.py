"""Run state in the editor: summaries, findings, transcripts, runnables."""
