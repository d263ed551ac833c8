"""HBase, with the HDFS and the ZooKeeper that it stands on."""

from plimsoll.adapters.products.hbase.adapter import HBase

__all__ = ["HBase"]
