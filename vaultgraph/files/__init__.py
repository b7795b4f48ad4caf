"""The sandboxed folder: stat pass, reads, grep, listing and image headers."""
