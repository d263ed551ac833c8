"""Configuration of Cassandra's logging."""

# As shipped, with two differences: no debug.log (it costs CPU and disk and nobody reads it here), no second copy on
# standard output. One file, never rotated away: a cell's log is collected whole.
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
