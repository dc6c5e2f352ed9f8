// Tables of slices, which backups do not import.
import { sqlStatement, t } from '../kernel/database/statement.js';

/** Revokes every access token that is not revoked. One row for each. */
export const revokeAllTokens = sqlStatement({
  text: `update access_token set is_revoked = true, updated_at = now() where not is_revoked returning id`,
  params: {},
  row: { id: t.uuid },
});

/** The same of client secrets, with which machines get tokens. */
export const revokeAllClientSecrets = sqlStatement({
  text: `update universal_auth_client_secret set is_revoked = true where not is_revoked returning id`,
  params: {},
  row: { id: t.uuid },
});

/** Lets no jobs of these kinds begin, whether a node has known them before or not. */
export const pauseKinds = sqlStatement({
  text: `
    insert into job_kind (name, is_paused) select name, true from unnest(:names::text[]) as kind(name)
    on conflict (name) do update set is_paused = true returning name`,
  params: { names: t.array(t.text) },
  row: { name: t.text },
});
