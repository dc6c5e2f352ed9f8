import { sql } from 'kysely';
import { prepared, tablesOf } from '../../../../kernel/database/tables.js';
import type { OrganizationSchema } from '../public.js';

const tables = tablesOf<typeof OrganizationSchema>();

/** The domains at which people may get mails of an organization: its own, or else those of its root. Empty: any. */
export const findEmailDomains = prepared(({ organizationId }: { organizationId: string }) =>
  tables
    .selectFrom('organization as o')
    .leftJoin('organization as root', 'root.id', 'o.parent_id')
    .select(
      sql<readonly string[]>`case when o.allowed_email_domains = '{}' then coalesce(root.allowed_email_domains, '{}')
        else o.allowed_email_domains end`.as('domains'),
    )
    .where('o.id', '=', organizationId),
);
