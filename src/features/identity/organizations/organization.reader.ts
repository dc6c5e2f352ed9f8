import type { Context, Transaction } from '../../../kernel/context.js';
import { loadRow } from '../../../kernel/database/rows.js';
import { findOrganizations, holdSubOrganization, type OrganizationView } from './organization.queries.js';

/** What other slices may ask about organizations. */
export class OrganizationReader {
  /**
   * An organization that the scope of the caller can see: itself, its root, and below a root the sub-organizations.
   *
   * @throws ORGANIZATION_NOT_FOUND
   */
  load(ctx: Context, id: string): Promise<OrganizationView> {
    const { organizationId, rootOrganizationId } = ctx;
    return loadRow(ctx, findOrganizations, { ids: [id], organizationId, rootOrganizationId }, 'ORGANIZATION_NOT_FOUND');
  }

  /**
   * The sub-organization of a root organization by its slug. It stays there until the transaction ends.
   *
   * @throws ORGANIZATION_NOT_FOUND
   */
  loadSubOrganization(tx: Transaction, rootOrganizationId: string, slug: string): Promise<{ id: string }> {
    return loadRow(tx, holdSubOrganization, { rootOrganizationId, slug }, 'ORGANIZATION_NOT_FOUND');
  }
}
