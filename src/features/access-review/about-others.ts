import { type Access, authorize } from '../../kernel/authz/ability.js';
import type { Context } from '../../kernel/context.js';
import { isId, NO_ID } from '../../kernel/ids.js';
import { USERNAMES } from './held.sql.js';

/** Whom a question is about. */
export interface Whom {
  readonly kind: 'user' | 'identity';
  readonly id: string;
}

/**
 * About others may ask who may read them and roles.
 *
 * @param names usernames by id
 * @returns the id to look for: that of nobody where it is not of the kind which the caller may read
 * @throws PERMISSION_DENIED
 */
export function authorizeAbout(access: Access, { kind, id }: Whom, names: ReadonlyMap<string, string>): string {
  authorize(access, 'role:read');
  // Nobody has an empty name: who is not known is judged as somebody whom no condition names.
  if (kind === 'user') authorize(access, 'member:read', { username: names.get(id) ?? '' });
  else authorize(access, 'identity:read', { identityId: id });
  return names.has(id) === (kind === 'user') ? id : NO_ID;
}

/** Usernames of those who are asked about and are users, whatever they are called, by id. */
export async function namesOf(ctx: Context, whom: readonly (Whom | null)[]): Promise<ReadonlyMap<string, string>> {
  const memberIds = whom.flatMap((each) => (each !== null && isId(each.id) ? [each.id] : []));
  if (memberIds.length === 0) return new Map();
  return new Map(
    (await USERNAMES(ctx, { memberIds, organizationId: ctx.organizationId })).map(({ id, name }) => [id, name]),
  );
}
