import type { Context, Transaction } from '../../kernel/context.js';
import { query } from '../../kernel/database/database.js';
import { AppError } from '../../kernel/errors.js';
import { isId } from '../../kernel/ids.js';

/** An organization as services pass it on. */
export interface OrganizationView {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  readonly parentId: string | null;
  readonly allowedEmailDomains: readonly string[];
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** The columns of an OrganizationView, of the table or alias `o`. */
export const ORGANIZATION_COLUMNS = `o.id, o.name, o.slug, o.parent_id as "parentId", o.allowed_email_domains as "allowedEmailDomains", o.created_at as "createdAt", o.updated_at as "updatedAt"`;

/** A row (its times are texts) or an entity, as a view. */
export const toOrganizationView = (row: OrganizationRow): OrganizationView => ({
  id: row.id,
  name: row.name,
  slug: row.slug,
  parentId: row.parentId ?? null,
  allowedEmailDomains: row.allowedEmailDomains ?? [],
  createdAt: new Date(row.createdAt),
  updatedAt: new Date(row.updatedAt),
});

interface OrganizationRow extends Pick<OrganizationView, 'id' | 'name' | 'slug'> {
  readonly parentId?: string | null;
  readonly allowedEmailDomains?: readonly string[];
  readonly createdAt: string | Date;
  readonly updatedAt: string | Date;
}

/** What other slices may ask about organizations. */
export class OrganizationReader {
  /**
   * An organization that the scope of the caller can see: itself, its root, and below a root the sub-organizations.
   *
   * @throws ORGANIZATION_NOT_FOUND
   */
  async load(ctx: Context, id: string): Promise<OrganizationView> {
    const [row] = isId(id)
      ? await query<OrganizationView>(
          ctx,
          `select ${ORGANIZATION_COLUMNS} from organization o where o.id = $1 and (o.id in ($2, $3) or o.parent_id = $2)`,
          [id, ctx.organizationId, ctx.rootOrganizationId],
        )
      : [];
    if (row === undefined) throw new AppError('ORGANIZATION_NOT_FOUND');
    return toOrganizationView(row);
  }

  /**
   * The sub-organization of a root organization by its slug. It stays there until the transaction ends.
   *
   * @throws ORGANIZATION_NOT_FOUND
   */
  async loadSubOrganization(tx: Transaction, rootOrganizationId: string, slug: string): Promise<{ id: string }> {
    const [row] = await query<{ id: string }>(
      tx,
      'select id from organization where parent_id = $1 and slug = $2 for key share',
      [rootOrganizationId, slug],
    );
    if (row === undefined) throw new AppError('ORGANIZATION_NOT_FOUND');
    return row;
  }
}
