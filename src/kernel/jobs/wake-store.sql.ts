/** Fails where Agenda's table is missing, or nobody may read it. */
export const CHECK_TABLE = 'select from agenda_jobs limit 0';

/** Waits for a lock; it ends with the transaction. */
export const LOCK = 'select pg_advisory_xact_lock($1)';
