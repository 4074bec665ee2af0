"""Child processes: supervised in a group of their own that ends with the engine, or in a sandbox, where a program may
read below one folder and do nothing else. See `sandbox`."""
