"""Access to hosts, whichever provider they come from: facts, files, jobs, samples."""
