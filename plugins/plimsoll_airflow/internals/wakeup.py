"""Database triggers on two of Airflow's tables that notify the scheduler when there is work. Read in Airflow 3.3.2.

Uses the column `state` of the tables `dag_run` and `task_instance`, because nothing public tells of work that arrives.
"""

CHANNEL = "plimsoll_wakeup"

DROP = f"drop function if exists {CHANNEL}() cascade"
"""Takes the triggers away too: a migration may change the columns they look at."""

# Committed for sure, with all that came before: a stamp that says so is written next.
# What the scheduler itself does (None to scheduled to queued) must not wake it; all else that it acts upon must. That a
# task begins to wait is no such: it frees a slot of a pool that does not count those that wait, and one of the
# executor, which sees by itself that the process has ended.
INSTALL = f"""
set synchronous_commit = on;
create or replace function {CHANNEL}() returns trigger language plpgsql as $$
begin
    perform pg_notify('{CHANNEL}', '');
    return null;
end $$;
create or replace trigger {CHANNEL}_task after update of state on task_instance for each row
    when (new.state is distinct from old.state
          and (new.state is null
               or new.state not in ('scheduled', 'queued', 'running', 'deferred')
               or (new.state = 'scheduled' and old.state is not null)))
    execute function {CHANNEL}();
create or replace trigger {CHANNEL}_run after insert or update of state on dag_run for each row
    when (new.state <> 'running')
    execute function {CHANNEL}();
"""
