import type { Source } from './kind.js';
import { rowsOf } from './rows.sql.js';

/** Its checks fail. */
export const FAILING: Source = {
  subject: 'ConnectedApp',
  reader: 'connections',
  rows: rowsOf({
    ...{ from: 'app_connection c', where: `c.failing_since is not null and c.check_state = 'failing'` },
    ...{ organizationId: 'c.organization_id', projectId: 'c.project_id', id: 'c.id', name: 'c.name', type: 'c.app' },
    ...{ since: 'c.failing_since', code: 'c.check_code', fields: `jsonb_build_object('connectionId', c.id)` },
  }),
  helps: [
    {
      field: 'checkAppConnection',
      right: { project: 'app-connections:connect-app-connections', organization: 'app-connections:connect' },
    },
    {
      field: 'updateAppConnection',
      right: { project: 'app-connections:edit-app-connections', organization: 'app-connections:edit' },
    },
  ],
};
