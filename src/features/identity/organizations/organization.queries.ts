import { sql } from 'kysely';
import { anyOf, columnsIn, prepared, tablesOf } from '../../../kernel/database/tables.js';
import { OrganizationSchema } from './core/organization.entity.js';

const tables = tablesOf<typeof OrganizationSchema>();

const organizations = tables.selectFrom('organization as o').select(columnsIn('o', OrganizationSchema));

interface Scope {
  readonly organizationId: string;
  readonly rootOrganizationId: string;
}

/** What a scope can see: itself, its root, and below a root the sub-organizations. */
const isSeen = ({ organizationId, rootOrganizationId }: Scope) =>
  sql<boolean>`(o.id in (${organizationId}, ${rootOrganizationId}) or o.parent_id = ${organizationId})`;

/** Organizations that a scope can see, in no order. */
export const findOrganizations = prepared((asked: Scope & { ids: readonly string[] }) =>
  organizations.where('o.id', '=', anyOf(asked.ids)).where(isSeen(asked)),
);

/** An organization as services pass it on. */
export type OrganizationView = Awaited<ReturnType<typeof findOrganizations>>[number];

const LEVEL = sql`case when o.parent_id is null then 0 else 1 end`;

/** All of them: the root first, then by name and id. */
export const listOrganizations = prepared(
  (page: Scope & Readonly<Record<'level' | 'name' | 'id', string | null>> & { readonly limit: number | null }) =>
    organizations
      .where(isSeen(page))
      .where(
        sql<boolean>`(${page.level}::text is null
          or (${LEVEL}, o.name collate "C", o.id) > (${page.level}::integer, ${page.name}, ${page.id}::uuid))`,
      )
      .orderBy(LEVEL)
      .orderBy(sql`o.name collate "C"`)
      .orderBy('o.id')
      .limit(page.limit),
);

/** The sub-organization of a root by its slug. It stays there until the transaction ends. */
export const lockSubOrganization = prepared(
  ({ rootOrganizationId, slug }: { rootOrganizationId: string; slug: string }) =>
    tables
      .selectFrom('organization')
      .select('id')
      .where('parent_id', '=', rootOrganizationId)
      .where('slug', '=', slug)
      .forKeyShare(),
);

/**
 * What a scope can see; for the admin of the installation any root organization. The lock keeps new projects and
 * sub-organizations out: their foreign keys wait for it.
 */
export const lockOrganizationToDelete = prepared((asked: Scope & { id: string; isInstallationAdmin: boolean }) =>
  organizations
    .where('o.id', '=', asked.id)
    .where(sql<boolean>`(${isSeen(asked)} or (${asked.isInstallationAdmin} and o.parent_id is null))`)
    .forUpdate(),
);

/** A row: the organization has projects or sub-organizations. */
export const findContents = prepared(({ id }: { id: string }) =>
  tables
    .selectFrom('organization as o')
    .select('o.id')
    .where('o.id', '=', id)
    .where(
      sql<boolean>`(exists (select from project p where p.organization_id = o.id)
        or exists (select from organization b where b.parent_id = o.id))`,
    ),
);

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
