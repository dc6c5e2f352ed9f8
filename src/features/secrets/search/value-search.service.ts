import { disclosureOf } from '../../../kernel/audit/disclosure.js';
import type { Context } from '../../../kernel/context.js';
import { SealedCursors } from '../../../kernel/graphql/sealed-cursors.js';
import type { RateLimits } from '../../../kernel/operations/limits/rate-limits.js';
import { SearchPage } from '../../../kernel/paging.js';
import { parse } from '../../../kernel/validation.js';
import type { ProjectReader } from '../../projects/public.js';
import { callingUserId } from '../core/find-secrets.js';
import { loadReach, onlyProject, SecretReach } from '../core/secret-reach.js';
import { countLookup, digestsOfValue } from '../core/value-lookups.js';
import { loadBounds, scanRows } from '../scope/scan.js';
import { VersionVisibility } from '../versions/version.rules.js';
import { listNewestStates, type NewestState } from '../versions/version.sql.js';
import { SecretsWithValue } from './search.rules.js';
import { findUndigested } from './value-digests.sql.js';
import { listValueRows, VALUE_KEY_PARTS, type ValueRow, valueKeyOf } from './value-search.sql.js';

/** Secrets with a value, and whether all values could be looked at. */
export type ValuePage = SearchPage<ValueRow> & { readonly isComplete: boolean };

/** A row, and the secret of a version as it is: absent where rules do not depend on single secrets, null where it is gone by now. */
type PlacedRow = ValueRow & { readonly present?: NewestState | null | undefined };

/** Finds secrets by their value. */
export class ValueSearchService {
  constructor(
    private readonly projects: ProjectReader,
    private readonly rateLimits: RateLimits,
  ) {}

  /**
   * Secrets whose stored value is the given one, to the byte, among those whose value the caller may read, with its own personal values and,
   * if wanted, former versions, of deleted secrets too. References are not expanded. Nothing is decrypted: values are found by the keyed
   * digests that each write stores. Who finds a value has read it, so each hit is recorded as that.
   *
   * @param raw `{ value, projectIds, includeFormerVersions, first, after }`; the rules are `SecretsWithValue`
   * @throws VALIDATION_FAILED, RATE_LIMITED, PROJECT_NOT_FOUND and PERMISSION_DENIED for projects that are named, AUDIT_UNAVAILABLE
   */
  async find(ctx: Context, raw: unknown): Promise<ValuePage> {
    const { value, projectIds, includeFormerVersions: withFormerVersions, ...request } = parse(SecretsWithValue, raw);
    countLookup(this.rateLimits, ctx);
    const cursors = new SealedCursors(ctx, 'secretsWithValue', { value, projectIds, withFormerVersions });
    const after = cursors.read(request.after, VALUE_KEY_PARTS);
    const userId = callingUserId(ctx) ?? null;
    // A user may read its personal value of whatever secret it sees.
    const action = userId === null ? 'secrets:readValue' : 'secrets:describeSecret';
    const described = await loadReach(ctx, this.projects, { projectIds, action });
    const reach = new SecretReach(described.accesses, 'secrets:readValue');
    const ownDigests = await digestsOfValue(ctx, value, described.projectIds);
    const inReach = new Set(reach.projectIds);
    const criteria = {
      digests: ownDigests.filter(({ projectId }) => inReach.has(projectId)),
      ownDigests,
      userId,
      withFormerVersions,
      bounds: await loadBounds(ctx, reach.accesses, ['secrets:describeSecret', 'secrets:readValue']),
    };
    const isOpen = reach.isOpen && described.isOpen;
    const { rows, stoppedAt } = await scanRows<PlacedRow, ValueRow>(
      { first: request.first, after, isOpen },
      {
        read: async (position, limit) => {
          const found = await listValueRows(ctx, criteria, { after: position, limit });
          return isOpen || !withFormerVersions ? found : placed(ctx, found);
        },
        see: (row) => (isSeen({ described, reach }, row) ? row : null),
        keyOf: valueKeyOf,
      },
    );
    const page = new SearchPage(rows, request, valueKeyOf, { cursors, stoppedAt });
    const [undigested] = await findUndigested(ctx, { projectIds: described.projectIds, withFormerVersions });
    const isComplete = ownDigests.length === described.projectIds.length && undigested?.isPending === false;
    await ctx.auditTrail.recordRead(ctx, {
      action: 'secret:find-value',
      projectId: onlyProject(projectIds),
      facts: {
        count: page.nodes.length,
        projects: new Set(page.nodes.map(({ projectId }) => projectId)).size,
        withFormerVersions,
      },
      disclosed: disclosureOf(page.nodes.map(({ rowId }) => rowId)),
    });
    return Object.assign(page, { isComplete });
  }
}

/** With the secrets of versions as they are. */
async function placed(ctx: Context, rows: readonly ValueRow[]): Promise<PlacedRow[]> {
  if (rows.length === 0) return [];
  const ids = [...new Set(rows.map(({ id }) => id))];
  const states = new Map((await listNewestStates(ctx, { ids })).map((state) => [state.id, state]));
  return rows.map((row) => ({ ...row, present: states.get(row.id) ?? null }));
}

/** The caller may read the value: a version as it was, and also where its secret is. */
function isSeen(
  { described, reach }: { readonly described: SecretReach; readonly reach: SecretReach },
  row: PlacedRow,
): boolean {
  if (row.kind === 'personal') return described.includes(row);
  if (!reach.includes(row)) return false;
  if (row.present === null) return false;
  if (row.present === undefined) return true;
  const versions = new VersionVisibility(reach.project(row.projectId).visibility, row.present);
  return versions.describes(row) && versions.readsValue(row);
}
