import { LockMode, raw as sql } from '@mikro-orm/core';
import { disclosureOf } from '../../../kernel/audit/disclosure.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { openedOrNull, SealedText } from '../../../kernel/crypto/sealed-text.js';
import type { Sealer } from '../../../kernel/crypto/sealer.js';
import { flush, inTransaction } from '../../../kernel/database/in-transaction.js';
import { AppError, type ErrorDetail } from '../../../kernel/errors.js';
import { newId } from '../../../kernel/ids.js';
import { refuseViolations, validationFailed } from '../../../kernel/validation.js';
import type { ProjectAccess, ProjectReader } from '../../projects/public.js';
import { callingUserId, findByKey, type SecretRecord } from '../core/find-secrets.js';
import { loadFolder, loadSecretProject } from '../core/load-folder.js';
import type { NewSecret, SecretChange } from '../core/secret.rules.js';
import { idsWithValues, type SecretView, SecretViewer } from '../core/secret.view.js';
import { openerFor, openPersonal, type SecretPlaintext, sealerFor, sealPersonal } from '../core/secret-sealing.js';
import { personalDigestOf, recordStates } from '../core/secret-states.js';

import { PersonalSecret } from '../entities/personal.entity.js';
import { authorizeReferences, type ValueAtLocation } from '../references/reference-writes.js';
import type { SecretLocation } from '../scope/location.rules.js';
import { authorizeListing, Visibility } from '../scope/visibility.rules.js';
import type { UpdateMode } from './secret-writing.rules.js';

/** A shared secret that the caller, a user, may have a personal value of. */
interface Owned {
  readonly project: ProjectAccess;
  readonly shared: SecretRecord;
  readonly userId: string;
}

const CODES = {
  personal_secret_owner_unique: 'SECRET_KEY_TAKEN',
  personal_secret_shared_fk: 'SECRET_NOT_FOUND',
} as const;

/** Creates, updates and deletes personal values. They concern only their owner. */
export class PersonalSecretService {
  constructor(private readonly projects: ProjectReader) {}

  /**
   * Creates the caller's personal value of a shared secret.
   *
   * @throws VALIDATION_FAILED (PERSONAL_NEEDS_USER, NOT_PERSONAL), PROJECT_NOT_FOUND, ENVIRONMENT_NOT_FOUND,
   * FOLDER_NOT_FOUND, SECRET_NOT_FOUND, PERMISSION_DENIED, SECRET_KEY_TAKEN, AUDIT_UNAVAILABLE
   */
  create(
    ctx: Context,
    place: SecretLocation,
    { secretKey, secretValue, secretComment, ...rest }: NewSecret,
  ): Promise<SecretView> {
    refuseViolations(sharedFields(rest));
    return inTransaction(ctx, async (tx) => {
      const owned = await this.#load(tx, place, secretKey);
      return this.#insert(tx, owned, { secretValue, secretComment });
    });
  }

  async #insert(
    tx: Transaction,
    owned: Owned,
    { secretValue, secretComment }: Pick<NewSecret, 'secretValue' | 'secretComment'>,
  ): Promise<SecretView> {
    const { project, shared, userId } = owned;
    const value = new SealedText(secretValue);
    authorizeReferences(project, [{ ...placeOf(shared), value, at: 'secretValue' }]);
    const row = { id: newId(), version: 1 };
    const clear = { value, comment: secretComment ? new SealedText(secretComment) : null };
    const sealed = sealPersonal(await sealerFor(tx, project, 1), row, clear);
    const { organizationId, projectId } = project;
    const own = tx.em.create(PersonalSecret, {
      organizationId,
      projectId,
      secretId: shared.id,
      userId,
      ...row,
      ...sealed,
    });
    await flush(tx, CODES);
    return finish(tx, owned, 'personal-secret:create', { own, clear });
  }

  /**
   * Updates the caller's personal value: absent keeps, a null comment clears it.
   *
   * @throws as `create`, without SECRET_KEY_TAKEN; SECRET_NOT_FOUND also when there is no personal value;
   * SEALED_VALUE_INVALID
   */
  async update(ctx: Context, place: SecretLocation, change: SecretChange): Promise<SecretView> {
    return (await this.change(ctx, place, change, 'fail')) as SecretView;
  }

  /**
   * The same, or what `mode` says if there is no personal value.
   *
   * @returns null if it was skipped
   * @throws as `update`; SECRET_NOT_FOUND for an upsert if there is no shared secret
   */
  change(
    ctx: Context,
    place: SecretLocation,
    { secretKey, secretValue, secretComment, ...rest }: SecretChange,
    mode: UpdateMode,
  ): Promise<SecretView | null> {
    refuseViolations(sharedFields(rest));
    return inTransaction(ctx, async (tx) => {
      const owned = await this.#load(tx, place, secretKey).catch((error: unknown) => {
        if (mode === 'ignore' && error instanceof AppError && error.code === 'SECRET_NOT_FOUND') return null;
        throw error;
      });
      if (owned === null) return null;
      const own = await lockOwn(tx, owned);
      if (own === null && mode === 'upsert')
        return this.#insert(tx, owned, { secretValue: secretValue ?? '', secretComment });
      if (own === null && mode === 'ignore') return null;
      if (own === null) throw new AppError('SECRET_NOT_FOUND');
      const opener = await openerFor(tx, owned.project, [own]);
      if (secretValue !== undefined) {
        const value = new SealedText(secretValue);
        const earlier = () => earlierOf(opener, owned.shared, own);
        authorizeReferences(owned.project, [{ ...placeOf(owned.shared), value, at: 'secretValue', earlier }]);
      }
      const row = { id: own.id, version: own.version + 1 };
      const kept = own.commentSealed == null ? null : openPersonal(opener, own, 'comment', own.commentSealed);
      const clear = {
        value:
          secretValue === undefined ? openPersonal(opener, own, 'value', own.valueSealed) : new SealedText(secretValue),
        comment: secretComment === undefined ? kept : secretComment ? new SealedText(secretComment) : null,
      };
      const sealed = sealPersonal(await sealerFor(tx, owned.project, 1), row, clear);
      tx.em.assign(own, { version: row.version, ...sealed, updatedAt: sql('now()') });
      await flush(tx);
      return finish(tx, owned, 'personal-secret:update', { own, clear });
    });
  }

  /**
   * Deletes and returns the caller's personal value; the shared one applies again.
   *
   * @throws as `update`
   */
  delete(ctx: Context, place: SecretLocation, secretKey: string): Promise<SecretView> {
    return inTransaction(ctx, async (tx) => {
      const owned = await this.#load(tx, place, secretKey);
      const own = await lockOwn(tx, owned);
      if (own === null) throw new AppError('SECRET_NOT_FOUND');
      await tx.em.nativeDelete(PersonalSecret, { id: own.id });
      return finish(tx, owned, 'personal-secret:delete', { own });
    });
  }

  /** Whoever may see a shared secret may have a personal value of it: it changes nothing for others. */
  async #load(tx: Transaction, place: SecretLocation, key: string): Promise<Owned> {
    const project = await loadSecretProject(tx, this.projects, place.projectId);
    authorizeListing(project);
    const userId = callingUserId(tx);
    if (userId === undefined) throw validationFailed([NEEDS_USER]);
    const shared = await findByKey(tx, place, { key, withValues: true });
    if (shared === undefined) await loadFolder(tx, place);
    if (shared === undefined || !new Visibility(project.ability).describes(shared))
      throw new AppError('SECRET_NOT_FOUND');
    return { project, shared, userId };
  }
}

const placeOf = ({ environment, path }: SecretRecord) => ({ environment, path });

/** The value that is overwritten, which its owner may read, if it can be decrypted. */
function earlierOf(opener: Sealer, shared: SecretRecord, own: PersonalSecret): readonly ValueAtLocation[] {
  const value = openedOrNull(() => openPersonal(opener, own, 'value', own.valueSealed));
  return value === null ? [] : [{ ...placeOf(shared), value }];
}

const lockOwn = (tx: Transaction, { shared, userId }: Owned): Promise<PersonalSecret | null> =>
  tx.em.findOne(PersonalSecret, { secretId: shared.id, userId }, { lockMode: LockMode.PESSIMISTIC_WRITE });

async function finish(
  tx: Transaction,
  { project, shared }: Owned,
  action: string,
  { own, clear }: { own: PersonalSecret; clear?: Omit<SecretPlaintext, 'metadata'> },
): Promise<SecretView> {
  const isDeletion = clear === undefined;
  const state = {
    id: own.id,
    version: own.version + Number(isDeletion),
    digest: isDeletion ? '' : personalDigestOf(own),
  };
  recordStates(tx, [state]);
  const opener = await openerFor(tx, project, isDeletion ? [shared, own] : [shared]);
  const view = new SecretViewer(opener, new Visibility(project.ability), true).personalView(shared, own, clear);
  await tx.auditTrail.recordChange(tx, {
    action,
    projectId: project.projectId,
    facts: { secretId: shared.id, personalSecretId: own.id },
    disclosed: disclosureOf(idsWithValues([view])),
  });
  return view;
}

const NEEDS_USER: ErrorDetail = {
  path: 'type',
  code: 'PERSONAL_NEEDS_USER',
  message: 'must be shared: only users have personal secrets',
};

/** What is wrong with a personal secret by itself, whatever is stored. */
export const personalViolations = (ctx: Context, secret: object): ErrorDetail[] => {
  const { secretKey: _, secretValue: __, secretComment: ___, ...rest } = secret as Partial<SecretChange>;
  return [...(callingUserId(ctx) === undefined ? [NEEDS_USER] : []), ...sharedFields(rest)];
};

/** The fields that a personal secret does not have. */
const sharedFields = (rest: Readonly<Record<string, unknown>>): ErrorDetail[] =>
  Object.entries(rest).flatMap(([name, value]): ErrorDetail[] =>
    value == null
      ? []
      : [
          {
            path: name,
            code: 'NOT_PERSONAL',
            message: 'must be absent: a personal secret takes it from the shared secret',
          },
        ],
  );
