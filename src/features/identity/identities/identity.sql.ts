// Tables of slices that import this one: tokens and members of projects.
import { sqlStatement, t } from '../../../kernel/database/statement.js';

/** Makes an identity a member of the project that owns it, without rights there. */
export const joinProject = sqlStatement({
  text: `insert into project_membership (id, organization_id, project_id, identity_id, roles)
    select :id, i.organization_id, :projectId, i.id, array['no-access'] from identity i where i.id = :identityId
    returning id`,
  params: { id: t.uuid, projectId: t.uuid, identityId: t.uuid },
  row: { id: t.uuid },
});

const METHOD = t.oneOf('token-auth', 'universal-auth', 'personal');

/** Deletes the tokens of an identity that were made by a method. */
export const deleteTokensOfMethod = sqlStatement({
  text: 'delete from access_token where identity_id = :identityId and auth_method = :method returning id',
  params: { identityId: t.uuid, method: METHOD },
  row: { id: t.uuid },
});

/** Whether a stored limit is lower than another; 0 is no limit. */
const isLower = (limit: string, other: string): string => `(${limit} > 0 and (${other} = 0 or ${limit} < ${other}))`;

/** A row: the token has all that the configuration gives by which it was made, and the one of the method. */
export const findUnlimitedToken = sqlStatement({
  text: `select t.id from access_token t
    where t.id = :tokenId and not t.is_revoked and t.num_uses_limit = 0 and not exists (
      select from (
        select 'token-auth' as method, ttl_seconds, max_ttl_seconds from identity_token_auth where identity_id = t.identity_id
        union all
        select 'universal-auth', ttl_seconds, max_ttl_seconds from identity_universal_auth where identity_id = t.identity_id
      ) c
      where c.method in (t.auth_method, :method)
        and (${isLower('t.ttl_seconds', 'c.ttl_seconds')} or ${isLower('t.max_ttl_seconds', 'c.max_ttl_seconds')}))`,
  params: { tokenId: t.nullable(t.uuid), method: METHOD },
  row: { id: t.uuid },
});
