"""A real Airflow on one machine: started, watched and stopped without root, Docker or a database server."""
