/** Makes the recurring job of a kind ($1) due: a node runs it within a second, or once more if it runs now. */
export const MAKE_DUE = `
  update job set is_asked_again = state = 'running', wake_at = case when state = 'running' then wake_at else now() end
  where kind = $1 and every_seconds is not null`;
