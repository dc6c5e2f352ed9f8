import type { AuditEvent } from '../../../kernel/audit/audit-record.js';
import { disclosureOf } from '../../../kernel/audit/disclosure.js';
import { authorize } from '../../../kernel/authz/ability.js';
import type { Context } from '../../../kernel/context.js';
import type { Sealer } from '../../../kernel/crypto/sealer.js';
import type { BatchLoad, Found } from '../../../kernel/database/batched.js';
import { filterYielding } from '../../../kernel/event-loop.js';
import type { ProjectRelations } from '../../projects/public.js';
import { listByIds } from '../core/find-secrets.js';
import { type SecretView, SecretViewer } from '../core/secret.view.js';
import { acquireReadSlot, reserveRows } from '../core/secret-read-limits.js';
import { openersFor } from '../core/secret-sealing.js';
import { findFolders, type ReadFolder } from '../folders/folder.queries.js';
import { findImports, type ImportRow } from '../folders/import.queries.js';
import { parentOf } from '../scope/place.rules.js';
import { authorizeListing, Visibility } from '../scope/visibility.rules.js';

/**
 * Folders, secrets and imports that responses refer to by ID, each kind in one statement for a whole response. Items
 * that the root field of that kind would deny or not find are left out.
 */
export class SecretRelations {
  constructor(private readonly projects: ProjectRelations) {}

  /** Folders by ID. */
  readonly folders: BatchLoad<ReadFolder> = async (ctx, ids) => {
    const rows = await findFolders(ctx, { ids });
    return this.projects.readable(ctx, rows, (folder, access) => {
      authorize(access, 'secret-folders:read', {
        environment: folder.environmentSlug,
        secretPath: parentOf(folder.path),
      });
      return { ...folder, access };
    });
  };

  /** Imports by ID. */
  readonly imports: BatchLoad<ImportRow> = async (ctx, ids) => {
    const rows = await findImports(ctx, { ids });
    return this.projects.readable(ctx, rows, (row, access) => {
      authorize(access, 'secret-imports:read', {
        environment: row.folder.environmentSlug,
        secretPath: row.folder.path,
      });
      return row;
    });
  };

  /** Shared secrets by ID, with their values. What cannot be decrypted is null. The caller of this records the read. */
  readonly secrets: BatchLoad<SecretView> = (ctx, ids) => this.#secrets(ctx, ids, true);

  /**
   * The same, with a record of each in the audit trail.
   *
   * @param opened false: without their values, which are not even read
   */
  shown(opened: boolean): BatchLoad<SecretView> {
    return opened ? this.#opened : this.#described;
  }

  readonly #opened: BatchLoad<SecretView> = (ctx, ids) => this.#shown(ctx, ids, true);
  readonly #described: BatchLoad<SecretView> = (ctx, ids) => this.#shown(ctx, ids, false);

  async #shown(ctx: Context, ids: readonly string[], viewSecretValue: boolean): Promise<Found<SecretView>> {
    const found = await this.#secrets(ctx, ids, viewSecretValue);
    const shown = [...found.values()].flatMap((view) => (view instanceof Error ? [] : [view]));
    await ctx.auditTrail.recordRead(ctx, ...shown.map(recordOf));
    return found;
  }

  async #secrets(ctx: Context, ids: readonly string[], viewSecretValue: boolean): Promise<Found<SecretView>> {
    if (viewSecretValue) await acquireReadSlot(ctx, ids.length, 'large');
    const records = await listByIds(ctx, ids, viewSecretValue);
    const found = await this.projects.readable(ctx, records, (row, access) => {
      authorizeListing(access);
      return { row, visibility: new Visibility(access.ability) };
    });
    const readable = [...found.values()].flatMap((value) => (value instanceof Error ? [] : [value]));
    const described = await filterYielding(readable, ({ row, visibility }) => visibility.describes(row));
    const readers = new Map(described.map(({ row, visibility }) => [row, visibility]));
    const rows = [...readers.keys()];
    await reserveRows(ctx, rows, (row) => readers.get(row)?.readsValue(row) === true);
    const openers = await openersFor(ctx, rows);
    const views = described.map(({ row, visibility }): [string, SecretView] => {
      const opener = openers.get(row.projectId) as Sealer;
      return [row.id, new SecretViewer(opener, visibility, viewSecretValue).view(row)];
    });
    const denied = [...found].flatMap(([id, value]) => (value instanceof Error ? [[id, value] as const] : []));
    return new Map<string, SecretView | Error>([...views, ...denied]);
  }
}

/** The audit details of a secret that was shown by ID. */
export const recordOf = ({
  id,
  projectId,
  version,
  secretValueHidden,
}: Pick<SecretView, 'id' | 'projectId' | 'version' | 'secretValueHidden'>): AuditEvent => ({
  action: 'secret:get',
  projectId,
  facts: { secretId: id, version, viewedValues: !secretValueHidden, expandedReferences: false },
  disclosed: disclosureOf(secretValueHidden ? [] : [id]),
});
