"""The only room that speaks LSP: routes, session, conversion, publishing, the bridge to runs."""
