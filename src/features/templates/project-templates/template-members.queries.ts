import { sql } from 'kysely';
import { anyOf, prepared, tablesOf } from '../../../kernel/database/tables.js';
import type { IdentitySchema, OrganizationMembershipSchema } from '../../identity/organizations/public.js';

interface Asked {
  readonly organizationId: string;
  readonly ids: readonly string[];
}

const memberships = ({ organizationId, ids }: Asked) =>
  tablesOf<typeof OrganizationMembershipSchema | typeof IdentitySchema>()
    .selectFrom('organization_membership as m')
    .leftJoin('identity as i', 'i.id', 'm.identity_id')
    .select([
      sql<string>`coalesce(m.user_id, m.group_id, m.identity_id)`.as('id'),
      sql<boolean>`m.ends_at is not null and m.ends_at <= now()`.as('hasEnded'),
    ])
    .where('m.organization_id', '=', organizationId)
    .where('i.project_id', 'is', null)
    .where((m) => {
      const any = anyOf(ids);
      return m.or([m('m.user_id', '=', any), m('m.group_id', '=', any), m('m.identity_id', '=', any)]);
    });

/** Organization memberships of users, groups and identities, by ID. Identities owned by projects have none here. */
export const findMemberships = prepared((asked: Asked) => memberships(asked));

/** The same, locked: none is deleted before the transaction ends. */
export const lockMemberships = prepared((asked: Asked) => memberships(asked).orderBy('m.id').forKeyShare('m'));
