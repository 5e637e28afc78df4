"""`operate`: looks up, corrects, exports and erases what is remembered, and keeps a deployment going."""
