"""Engine core: ports, plan, loop driver, messages, errors. No effects."""
