"""GC logs of JDK 8 to 25."""
