// Parts of statements: rows of kinds.
import type { Help, Source } from './kind.js';
import { rowsOf } from './rows.sql.js';

const HELPS: readonly Help[] = [
  {
    field: 'checkAppConnection',
    right: { project: 'app-connections:connect-app-connections', organization: 'app-connections:connect' },
  },
  {
    field: 'updateAppConnection',
    right: { project: 'app-connections:edit-app-connections', organization: 'app-connections:edit' },
  },
];

const connections = (columns: { from: string; where: string; since: string; code: string }): Source => ({
  subject: 'ConnectedApp',
  reader: 'connections',
  rows: rowsOf({
    ...columns,
    ...{ of: 'c', type: 'c.app' },
    fields: `jsonb_build_object('connectionId', c.id)`,
  }),
  helps: HELPS,
});

const IS_FAILING = `c.failing_since is not null and c.check_state = 'failing'`;

/** Its checks fail. */
export const FAILING = connections({
  ...{ from: 'app_connection c', where: IS_FAILING, since: 'c.failing_since', code: 'c.check_code' },
});

/** Its external system has not responded to several calls, and is left alone for a while. */
export const UNRESPONSIVE = connections({
  from: 'unresponsive_target u join app_connection c on c.organization_id = u.organization_id and c.target = u.target',
  ...{ where: `u.failures >= 3 and (${IS_FAILING}) is not true`, since: 'u.since', code: 'u.error_code' },
});
