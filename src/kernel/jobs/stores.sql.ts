/** SQL for a store apart, whose table is Agenda's and no entity. Removes what failed long ago, by the clock of the store. */
export const FORGET_FAILED =
  'delete from agenda_jobs where next_run_at is null and failed_at < now() - make_interval(days => $1)';
