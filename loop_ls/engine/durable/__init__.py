"""What several processes share on one database: the queue of runs, who lives, and places at providers."""
