"""The open vault: snapshot, refresh and watching."""
