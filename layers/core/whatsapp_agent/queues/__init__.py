"""The two FIFO queues on Amazon SQS."""
