import { authorize, PermissionDenied } from '../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import type { SealedText } from '../../../kernel/crypto/sealed-text.js';
import { inTransaction } from '../../../kernel/database/in-transaction.js';
import { distinctIds, newId } from '../../../kernel/ids.js';
import { parse, validationFailed } from '../../../kernel/validation.js';
import type { ProjectReader } from '../../projects/public.js';
import type { SecretRecord } from '../core/find-secrets.js';
import { lockRecords, lockRecordsById } from '../core/locked-secrets.js';
import { nextAttributes, sealedRow } from '../core/next-version.js';
import { refuseRotated, violationsOfRemoval } from '../core/rotated-guard.js';
import { lockStructure } from '../core/secret.queries.js';
import { openerFor, type SecretPlaintext, sealerFor } from '../core/secret-sealing.js';
import { type Attributes, deleteSecrets, insertSecrets, updateSecrets } from '../core/secret-writes.js';
import { refuseTakenKeys, subjectOf } from '../core/write-checks.js';
import {
  loadWriteTarget,
  lockTargetFolders,
  recordWrite,
  referenceLocation,
  type WriteTarget,
} from '../core/write-target.js';
import { authorizeReferences, type NewValue, rewriteReferencesTo } from '../references/reference-writes.js';
import { fieldsOf, Visibility } from '../scope/visibility.rules.js';
import type { TagRow } from '../tags/public.js';
import { openContents } from '../versions/restore-contents.js';
import { TransferSecrets } from './secret-writing.rules.js';

const pathOf = (index: number): string => `secretIds[${index}]`;

/** Both ends of a move or copy. */
interface Transfer {
  readonly source: WriteTarget;
  readonly destination: WriteTarget;
  readonly secretIds: readonly string[];
  readonly shouldOverwrite: boolean;
}

/** Result of a move or copy. */
interface Transferred {
  /** In the order of the given IDs: for a move the same IDs, for a copy new ones. */
  readonly secretIds: readonly string[];
  /** IDs of the replaced secrets. */
  readonly replacedSecretIds: readonly string[];
  /** Secrets whose references were updated, as far as the caller may see them. */
  readonly rewritten: number;
}

/** Moves and copies secrets from one folder of a project to another, of any environment. All or none. */
export class SecretMovingService {
  constructor(private readonly projects: ProjectReader) {}

  /**
   * Moves secrets, with their IDs, history, tags and personal values, and updates references to them. References in
   * their own values are not changed.
   *
   * @param raw `{ projectId, source, destination, secretIds, shouldOverwrite }`; the rules are `TransferSecrets`
   * @throws VALIDATION_FAILED, PROJECT_NOT_FOUND, ENVIRONMENT_NOT_FOUND, FOLDER_NOT_FOUND, SECRET_NOT_FOUND,
   * PERMISSION_DENIED, SECRET_KEY_TAKEN, ROTATED_SECRET, SECRET_REFERENCED, REFERENCES_TOO_LONG, CONCURRENT_CHANGE,
   * SEALED_VALUE_INVALID, AUDIT_UNAVAILABLE
   */
  async move(ctx: Context, raw: unknown): Promise<Transferred> {
    const transfer = await this.#load(ctx, raw, 'secrets:delete');
    const { source, destination } = transfer;
    const { project } = source;
    return inTransaction(ctx, async (tx) => {
      const { records, replaced } = await ready(tx, transfer, { isMove: true });
      const sealer = await sealerFor(tx, project, records.length);
      const opener = await openerFor(tx, project, records);
      const contents = records.map((record) => openContents(opener, project, record));
      authorizeReferences(
        project,
        contents.map(({ value }, index) => {
          // References with a location may stay; those without one now mean another secret.
          const earlier = () => [{ ...referenceLocation(source), value }];
          return { ...newValueOf(transfer, value, index), earlier };
        }),
      );
      const rows = records.map((record, index) =>
        sealedRow(sealer, { ...nextAttributes(record), ...homeOf(destination) }, contents[index] as SecretPlaintext),
      );
      await updateSecrets(tx, project, rows);
      const renamings = records.map(({ key }) => ({ from: named(source, key), to: named(destination, key) }));
      const rewritten = await rewriteReferencesTo(tx, project, renamings);
      const ids = rows.map(({ id }) => id);
      await record(tx, transfer, { action: 'secret:move', ids });
      return { secretIds: ids, replacedSecretIds: replaced, rewritten };
    });
  }

  /**
   * Copies secrets with values, comments, metadata, tags and reminders. Personal values and history are not copied. The
   * copy of a secret that a rotation writes is an ordinary one with the current value. Metadata is encrypted if the
   * project requires it, also in a move: what is written now follows the current requirement.
   *
   * @param raw as for `move`
   * @throws as `move`
   */
  async copy(ctx: Context, raw: unknown): Promise<Transferred> {
    const transfer = await this.#load(ctx, raw, 'secrets:create');
    const { source, destination } = transfer;
    const { project } = source;
    return inTransaction(ctx, async (tx) => {
      const { records, replaced } = await ready(tx, transfer, { isMove: false });
      const sealer = await sealerFor(tx, project, records.length);
      const opener = await openerFor(tx, project, records);
      const contents = records.map((record) => openContents(opener, project, record));
      authorizeReferences(
        project,
        contents.map(({ value }, index) => newValueOf(transfer, value, index)),
      );
      const rows = records.map((record, index) => {
        const own = { id: newId(), version: 1, rotationId: null };
        const attributes: Attributes = { ...nextAttributes(record), ...homeOf(destination), ...own };
        return sealedRow(sealer, attributes, contents[index] as SecretPlaintext);
      });
      await insertSecrets(tx, project, rows);
      const ids = rows.map(({ id }) => id);
      await record(tx, transfer, { action: 'secret:copy', ids });
      return { secretIds: ids, replacedSecretIds: replaced, rewritten: 0 };
    });
  }

  async #load(ctx: Context, raw: unknown, action: 'secrets:create' | 'secrets:delete'): Promise<Transfer> {
    const { projectId, source, destination, secretIds, shouldOverwrite } = parse(TransferSecrets, raw);
    const from = await loadWriteTarget(ctx, this.projects, { place: { projectId, ...source }, pathOf }, action);
    const to = await loadWriteTarget(
      ctx,
      this.projects,
      { place: { projectId, ...destination }, pathOf },
      'secrets:create',
    );
    if (from.folderId === to.folderId) {
      throw validationFailed([{ path: 'destination', code: 'SAME_FOLDER', message: 'must not be the source folder' }]);
    }
    return { source: from, destination: to, secretIds: distinctIds(secretIds), shouldOverwrite };
  }
}

/** The secrets, locked and authorized, and a destination where nothing is in their way. */
async function ready(
  tx: Transaction,
  { source, destination, secretIds, shouldOverwrite }: Transfer,
  { isMove }: { isMove: boolean },
): Promise<{ records: readonly SecretRecord[]; replaced: readonly string[] }> {
  const { project } = source;
  await lockStructure(tx, project);
  await lockTargetFolders(tx, [source, destination]);
  const records = await lockRecordsById(tx, source, secretIds);
  const visibility = new Visibility(project.ability);
  for (const item of records) {
    // A caller who cannot read a value here must not move it to where it can.
    if (!visibility.readsValue(item))
      throw new PermissionDenied({ action: 'secrets:readValue', projectId: project.projectId });
    authorize(project, 'secrets:create', fieldsOf(inPlace(destination, item.key, item.tags)));
    if (isMove) authorize(project, 'secrets:delete', fieldsOf(item));
  }
  const violations = isMove ? violationsOfRemoval(records, pathOf) : [];
  const keys = records.map(({ key }) => key);
  if (!shouldOverwrite) {
    refuseRotated(violations);
    await refuseTakenKeys(tx, destination, keys);
    return { records, replaced: [] };
  }
  const inTheWay = [...(await lockRecords(tx, destination, keys)).values()];
  for (const item of inTheWay) authorize(project, 'secrets:delete', fieldsOf(item));
  const placeOf = (at: number): string => pathOf(keys.indexOf((inTheWay[at] as SecretRecord).key));
  const ofTaken = violationsOfRemoval(inTheWay, placeOf, 'has the key of a secret that a rotation manages');
  refuseRotated([...ofTaken, ...violations]);
  const replaced = inTheWay.map(({ id }) => id);
  await deleteSecrets(tx, replaced);
  return { records, replaced };
}

const homeOf = ({ environmentId, folderId }: WriteTarget) => ({ environmentId, folderId });
const inPlace = ({ place }: WriteTarget, key: string, tags: readonly TagRow[]) => subjectOf(place, key, tags);
const named = (target: WriteTarget, key: string) => ({ ...referenceLocation(target), key });

const newValueOf = ({ destination }: Transfer, value: SealedText, index: number): NewValue => ({
  ...referenceLocation(destination),
  value,
  at: pathOf(index),
});

async function record(
  tx: Transaction,
  { source, destination, secretIds }: Transfer,
  { action, ids }: { action: string; ids: readonly string[] },
): Promise<void> {
  const facts = { sourceFolderId: source.folderId, sourceCount: secretIds.length };
  await recordWrite(tx, destination, { action, ids, facts });
}
