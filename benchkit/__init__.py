"""Is this MariaDB/MySQL server, version or setting faster, by how much, and is that real?"""
