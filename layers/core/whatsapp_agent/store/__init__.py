"""The ports of memory on DynamoDB: one class per port, one file per job."""
