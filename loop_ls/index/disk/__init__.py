"""Files on disk: discovery, ignore files, workflow roots, URIs."""
