"""The configuration of Cassandra's logging."""

# As shipped, with three differences: no debug.log, which costs CPU and disk and which nobody reads here; no second copy
# on standard output; no rotation, because a cell's log is collected as a whole.
LOGBACK = """<configuration>
  <appender name="SYSTEMLOG" class="ch.qos.logback.core.FileAppender">
    <file>${cassandra.logdir}/system.log</file>
    <encoder>
      <pattern>%-5level [%thread] %date{ISO8601} %F:%L - %msg%n</pattern>
    </encoder>
  </appender>
  <root level="INFO">
    <appender-ref ref="SYSTEMLOG"/>
  </root>
</configuration>
"""
