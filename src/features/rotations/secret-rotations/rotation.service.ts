import type { z } from 'zod';
import { authorize } from '../../../kernel/authz/ability.js';
import type { Context, Transaction } from '../../../kernel/context.js';
import { SealedText } from '../../../kernel/crypto/sealed-text.js';
import { flush, inTransaction } from '../../../kernel/database/in-transaction.js';
import { databaseNow } from '../../../kernel/database/now.sql.js';
import { AppError, type ErrorDetail, invalid } from '../../../kernel/errors.js';
import { isId, newId } from '../../../kernel/ids.js';
import { parse, refuseViolations, validationFailed } from '../../../kernel/validation.js';
import { refuseOtherVersion } from '../../../kernel/value-rules.js';
import type { ProjectAccess, ProjectReader } from '../../projects/public.js';
import {
  type FoundFolder,
  keepRotatedKeys,
  loadFolder,
  loadSecretProject,
  relocateRotated,
  type SecretLocation,
} from '../../secrets/public.js';
import {
  type ConnectionReader,
  digestOfAccount,
  lockAccount,
  openConnection,
  refusalOf,
  refuseOwnedAccount,
  TargetFailure,
} from '../app-connections/public.js';
import { beginAttempt, waitForAttempt } from './engine/begin.js';
import { nextOf } from './engine/outcomes.js';
import { fieldOf, type RotationKind, type RotationTarget, rejectsCredentials } from './kind/rotation-kind.js';
import { type Kinds, ROTATION_TYPES, type RotationType } from './kinds/kinds.js';
import { type Content, type ContentChange, CreateRotation, MoveRotation, UpdateRotation } from './rotation.rules.js';
import {
  fieldsOf,
  inRotationTransaction,
  RotationAccess,
  type ShownRotation,
  withMessages,
} from './rotation-access.js';
import { SecretRotation } from './store/rotation.entity.js';
import { findRotationViews, listAccountOwners } from './store/rotation.sql.js';
import { DEFAULT_SCHEDULE, nextRunAfter, type ScheduleExtras } from './store/timing.js';

/** A rotation to create; nothing has changed yet. */
interface Plan {
  readonly project: ProjectAccess;
  readonly at: FoundFolder & { readonly place: SecretLocation };
  readonly kind: RotationKind<RotationType>;
  readonly target: RotationTarget;
  /** The account that it owns; null if its type has none, and before the check. */
  readonly account: SealedText | null;
  readonly given: z.output<typeof CreateRotation>;
  readonly path: string;
}

/** Preview of a rotation. */
interface Previewed {
  readonly secretKeys: string[];
  readonly hasOverlappingCredentials: boolean;
  readonly nextRotationAt: Date | null;
}

const TAKEN = { secret_rotation_name_unique: 'SECRET_ROTATION_NAME_TAKEN' } as const;
const HELD = {
  ...TAKEN,
  secret_rotation_connection_id_fkey: 'APP_CONNECTION_NOT_FOUND',
  secret_rotation_folder_id_fkey: 'FOLDER_NOT_FOUND',
  secret_rotation_environment_id_fkey: 'ENVIRONMENT_NOT_FOUND',
  secret_rotation_project_id_fkey: 'PROJECT_NOT_FOUND',
  secret_rotation_account_unique: 'ACCOUNT_ROTATED',
} as const;

/** Thrown to roll back a dry run. */
class DryRunPassed extends Error {}

/**
 * Creates and updates rotations.
 *
 * Every method that takes `raw`, its unvalidated input, throws VALIDATION_FAILED, PERMISSION_DENIED and AUDIT_UNAVAILABLE.
 */
export class RotationService {
  private readonly access: RotationAccess;

  constructor(
    private readonly projects: ProjectReader,
    private readonly connections: ConnectionReader,
    private readonly kinds: Kinds,
  ) {
    this.access = new RotationAccess(projects);
  }

  /**
   * Creates a rotation and its first credential. The external system is changed only after all checks have passed. If creation fails,
   * nothing is left in the database.
   *
   * @throws PROJECT_NOT_FOUND, ENVIRONMENT_NOT_FOUND, FOLDER_NOT_FOUND, APP_CONNECTION_NOT_FOUND, SECRET_ROTATION_NAME_TAKEN,
   *   SECRET_KEY_TAKEN, ROTATION_RUNNING; ACCOUNT_ROTATED, ACCOUNT_OF_CONNECTION; UPSTREAM_REJECTED, UPSTREAM_UNREACHABLE; as
   *   `waitForAttempt`
   */
  async create(ctx: Context, raw: unknown): Promise<ShownRotation> {
    const plan = await this.#plan(ctx, raw);
    const { id, attemptId } = await inTransaction(ctx, async (tx) => {
      // Authorized again: permissions may have changed while the external system was called.
      await this.#authorized(tx, plan.given);
      return this.#insert(tx, plan);
    });
    await waitForAttempt(ctx, attemptId, plan.path);
    return showRotation(ctx, id);
  }

  /** Makes all checks of `create`, and changes nothing. @throws as `create` */
  async preview(ctx: Context, raw: unknown): Promise<Previewed> {
    const plan = await this.#plan(ctx, raw);
    await ctx.auditTrail.recordRead(ctx, {
      action: 'secret-rotation:preview',
      projectId: plan.project.projectId,
      facts: { type: plan.kind.type, connectionId: plan.given.connectionId },
    });
    const { isAutoRotationEnabled, rotationInterval, rotateAtUtc, content } = plan.given;
    const now = new Date();
    return {
      secretKeys: Object.values(chosen(content).secretsMapping ?? {}),
      hasOverlappingCredentials: plan.kind.overlaps,
      nextRotationAt: nextRunAfter(
        {
          ...{
            isAutoRotationEnabled,
            rotationInterval,
            schedule: scheduleOf(plan.given),
            lastRotatedAt: now,
            isLastManual: true,
          },
          ...{ rotateAtHours: rotateAtUtc.hours, rotateAtMinutes: rotateAtUtc.minutes },
        },
        now,
      ),
    };
  }

  /**
   * Updates a rotation. Does not rotate or start anything: new parameters take effect at the next rotation.
   *
   * @throws SECRET_ROTATION_NOT_FOUND, SECRET_ROTATION_NAME_TAKEN, SECRET_KEY_TAKEN, ROTATION_RUNNING, ROTATION_DELETING; CONCURRENT_CHANGE
   */
  async update(ctx: Context, raw: unknown): Promise<ShownRotation> {
    const input = parse(UpdateRotation, raw);
    return inRotationTransaction(ctx, input.id, async (tx) => {
      const { view, rotation, project } = await this.access.lock(tx, input, 'secret-rotation:edit');
      refuseChanged(input, view);
      const kind = this.kinds.of(rotation.type);
      const content = input.content === undefined ? undefined : changedContent(kind, rotation, input.content);
      refuseOtherVersion(rotation.version, input.expectedVersion);
      refuseRunningOrDeleting(rotation);
      if (content?.secretsMapping !== undefined)
        await relocateRotated(tx, project, { rotationId: rotation.id, mapping: content.secretsMapping });
      const { name, description, isAutoRotationEnabled, rotationInterval, rotateAtUtc, schedule, apartFrom } = input;
      await this.#refuseUnknown(tx, project, input);
      await refuseUnknownNames(tx, kind, project, content);
      const isRescheduled = schedule !== undefined || apartFrom !== undefined;
      const changes = withoutUndefined({
        ...{ name, description, isAutoRotationEnabled, rotationInterval },
        ...{ rotateAtHours: rotateAtUtc?.hours, rotateAtMinutes: rotateAtUtc?.minutes },
        ...{ parameters: content?.parameters, secretsMapping: content?.secretsMapping },
        schedule: isRescheduled ? scheduleOf(input, rotation.schedule) : undefined,
      });
      const now = await databaseNow(tx);
      tx.em.assign(rotation, { ...changes, version: rotation.version + 1, updatedAt: now });
      const isTimed = [isAutoRotationEnabled, rotationInterval, rotateAtUtc].some((given) => given !== undefined);
      if (isTimed || isRescheduled)
        tx.em.assign(rotation, { pauseReason: null, refusals: 0, nextRotationAt: await nextOf(tx, rotation, now) });
      await flush(tx, TAKEN);
      await tx.auditTrail.recordChange(tx, {
        action: 'secret-rotation:update',
        projectId: project.projectId,
        facts: { rotationId: rotation.id, changed: Object.keys(changes).sort() },
      });
      return showRotation(tx, rotation.id);
    });
  }

  /**
   * Moves a rotation and its secrets to another folder of the project.
   *
   * @throws SECRET_ROTATION_NOT_FOUND, ENVIRONMENT_NOT_FOUND, FOLDER_NOT_FOUND, SECRET_ROTATION_NAME_TAKEN, SECRET_KEY_TAKEN,
   *   ROTATED_SECRET, ROTATION_RUNNING, ROTATION_DELETING
   */
  async move(ctx: Context, raw: unknown): Promise<ShownRotation> {
    const {
      destinationEnvironment: environment,
      destinationSecretPath: secretPath,
      overwriteDestination: shouldOverwrite,
      ...ref
    } = parse(MoveRotation, raw);
    return inRotationTransaction(ctx, ref.id, async (tx) => {
      const { rotation, project } = await this.access.lock(tx, ref, 'secret-rotation:edit');
      const place = { projectId: project.projectId, environment, secretPath };
      const { connectionId } = rotation;
      authorize(project, 'secret-rotation:create', fieldsOf({ environment, path: secretPath, connectionId }));
      const destination = { ...(await loadFolder(tx, place)), place };
      refuseRunningOrDeleting(rotation);
      await relocateRotated(tx, project, { rotationId: rotation.id, destination, shouldOverwrite });
      const { environmentId, folderId } = destination;
      const updatedAt = await databaseNow(tx);
      tx.em.assign(rotation, { environmentId, folderId, version: rotation.version + 1, updatedAt });
      await flush(tx, HELD);
      await tx.auditTrail.recordChange(tx, {
        action: 'secret-rotation:move',
        projectId: project.projectId,
        facts: { rotationId: rotation.id, environmentId, folderId },
      });
      return showRotation(tx, rotation.id);
    });
  }

  /** All checks before anything changes outside: first those of the database, then the external system, which is only read. */
  async #plan(ctx: Context, raw: unknown): Promise<Plan> {
    const given = parse(CreateRotation, raw);
    const { type, path, parameters = {}, temporaryParameters } = chosen(given.content);
    const { environment, secretPath, connectionId } = given;
    const project = await this.#authorized(ctx, given);
    const { projectId, organizationId } = project;
    const place = { projectId, environment, secretPath };
    const at = { ...(await loadFolder(ctx, place)), place };
    const kind = this.kinds.of(type);
    const target: RotationTarget = {
      ...{ rotationId: newId(), organizationId, projectId, parameters, current: null },
      connection: await openConnection(ctx, connectionId),
      temporary: temporaryParameters == null ? null : sealedTexts(temporaryParameters),
    };
    const plan = { project, at, kind, target, given, path, account: null };
    await inTransaction(ctx, async (tx) => {
      await this.#insert(tx, plan);
      throw new DryRunPassed();
    }).catch((error: unknown) => {
      if (!(error instanceof DryRunPassed)) throw error;
    });
    try {
      return { ...plan, account: await this.#check(ctx, plan) };
    } catch (error) {
      throw error instanceof TargetFailure ? refusalOf(error, path) : error;
    }
  }

  /**
   * Asks the external system, and whether the account is free.
   *
   * @returns the account; null if the type of the rotation has none
   * @throws TargetFailure; as `check` of the kind, and as `#digestOf`
   */
  async #check(ctx: Context, { kind, target }: Plan): Promise<SealedText | null> {
    const failure = await kind.check(ctx, target).then(
      () => null,
      (error: unknown) => error,
    );
    // A rejected password may be one that another rotation of the account has just replaced.
    const isExplained = failure instanceof TargetFailure && rejectsCredentials(failure);
    if (failure !== null && !isExplained) throw failure;
    const account = (await kind.accountOf?.(ctx, target)) ?? null;
    await inTransaction(ctx, (tx) => this.#digestOf(tx, kind, account));
    if (failure !== null) throw failure;
    return account;
  }

  /**
   * The digest of the account of a new rotation, which stays locked.
   *
   * @throws ACCOUNT_ROTATED; ACCOUNT_OF_CONNECTION if a connection would be locked out
   */
  async #digestOf(tx: Transaction, { app }: RotationKind, account: SealedText | null): Promise<Buffer | null> {
    const digest = await digestOfAccount(tx, app, account);
    if (digest === null) return null;
    await lockAccount(tx, { digest });
    const { organizationId } = tx;
    await refuseOwnedAccount(tx, this.projects, await listAccountOwners(tx, { organizationId, accountDigest: digest }));
    await this.connections.refuseAccountOf(tx, digest);
    return digest;
  }

  /** The project of a new rotation, for a caller that can create it and use its connection. */
  async #authorized(ctx: Context, given: Plan['given']): Promise<ProjectAccess> {
    const { environment, secretPath, connectionId } = given;
    const project = await loadSecretProject(ctx, this.projects, given.projectId);
    authorize(project, 'secret-rotation:create', fieldsOf({ environment, path: secretPath, connectionId }));
    const { app } = this.kinds.of(chosen(given.content).type);
    await this.connections.loadUsable(ctx, { connectionId, app, projectId: project.projectId });
    return project;
  }

  /** @throws VALIDATION_FAILED for rotations that do not exist in the project */
  async #refuseUnknown(
    tx: Transaction,
    { projectId }: ProjectAccess,
    { apartFrom = [] }: Pick<z.output<typeof UpdateRotation>, 'apartFrom'>,
  ): Promise<void> {
    if (apartFrom.length === 0) return;
    const ids = apartFrom.map(({ rotationId }) => rotationId.toLowerCase());
    const found = await tx.em.find(SecretRotation, { id: { $in: ids.filter(isId) }, projectId }, { fields: ['id'] });
    const known = new Set(found.map(({ id }) => id));
    const details = ids.flatMap((id, at): ErrorDetail[] =>
      known.has(id) ? [] : [invalid(`apartFrom[${at}].rotationId`, 'must be a rotation of the project')],
    );
    refuseViolations(details);
  }

  async #insert(tx: Transaction, plan: Plan): Promise<{ id: string; attemptId: string }> {
    const { project, at, kind, target, given, path, account } = plan;
    const { organizationId, projectId } = project;
    const {
      name,
      description = null,
      connectionId,
      isAutoRotationEnabled,
      rotationInterval,
      rotateAtUtc,
      content,
    } = given;
    const { parameters = {}, secretsMapping = {} } = chosen(content);
    await refuseUnknownNames(tx, kind, project, chosen(content));
    const adopted = given.adopt && target.temporary !== null ? kind.adopted?.(parameters, target.temporary) : undefined;
    const rotation = tx.em.create(SecretRotation, {
      ...{
        id: newId(),
        organizationId,
        projectId,
        environmentId: at.environmentId,
        folderId: at.folderId,
        connectionId,
      },
      ...{ type: kind.type, name, description, parameters, secretsMapping, isAutoRotationEnabled, rotationInterval },
      ...{
        rotateAtHours: rotateAtUtc.hours,
        rotateAtMinutes: rotateAtUtc.minutes,
        schedule: scheduleOf(given),
        status: 'in_progress',
      },
    });
    await flush(tx, HELD);
    // After the insert, which has locked the connection: a change of the connection locks both in this order.
    tx.em.assign(rotation, { accountDigest: await this.#digestOf(tx, kind, account) });
    await flush(tx, HELD);
    await this.#refuseUnknown(tx, project, given);
    await keepRotatedKeys(tx, project, { rotationId: rotation.id, mapping: secretsMapping, at });
    const beginning = {
      rotation,
      kind,
      reason: adopted === undefined ? 'creation' : 'adoption',
      actor: tx.actor,
      temporary: target.temporary,
    } as const;
    const attemptId = await beginAttempt(tx, adopted === undefined ? beginning : { ...beginning, adopted });
    if (attemptId === null) throw otherAttemptViolation(path);
    await tx.auditTrail.recordChange(tx, {
      action: 'secret-rotation:create',
      projectId,
      facts: { rotationId: rotation.id, attemptId, type: kind.type, connectionId, name },
    });
    return { id: rotation.id, attemptId };
  }
}

/** A changed rotation, as every reader sees it. @throws SECRET_ROTATION_NOT_FOUND if it was deleted in the meantime */
export async function showRotation(ctx: Context, id: string): Promise<ShownRotation> {
  const [rotation] = await withMessages(ctx, await findRotationViews(ctx, { ids: [id] }));
  if (rotation === undefined) throw new AppError('SECRET_ROTATION_NOT_FOUND');
  return rotation;
}

/** @throws ROTATION_RUNNING, ROTATION_DELETING */
export function refuseRunningOrDeleting({
  status,
  lastAttemptId,
}: Pick<SecretRotation, 'status' | 'lastAttemptId'>): void {
  if (status === 'in_progress') throw otherAttemptViolation('id', `is already running, as attempt ${lastAttemptId}`);
  if (status === 'deleting') throw new AppError('ROTATION_DELETING');
}

/** @throws VALIDATION_FAILED for parameters that name something missing in the organization */
async function refuseUnknownNames(
  tx: Transaction,
  kind: RotationKind,
  { organizationId }: ProjectAccess,
  content: Pick<ReturnType<typeof chosen>, 'path' | 'parameters'> | undefined,
): Promise<void> {
  if (content?.parameters === undefined) return;
  refuseContentViolations(content.path, await kind.nameViolations?.(tx, organizationId, content.parameters));
}

/** The new content of a rotation. @throws VALIDATION_FAILED for another type, or parameters that cannot change in this way */
function changedContent(
  kind: RotationKind,
  rotation: Pick<SecretRotation, 'type' | 'parameters'>,
  given: Parameters<typeof chosen>[0],
): ReturnType<typeof chosen> {
  const content = chosen(given);
  const { path } = content;
  if (content.type !== rotation.type) throw validationFailed([invalid(path, `must be of the type ${rotation.type}`)]);
  refuseContentViolations(path, kind.changeViolations?.(rotation.parameters, content.parameters));
  return content;
}

/** @throws VALIDATION_FAILED if content of this path in the request has violations */
function refuseContentViolations(path: string, violations: readonly ErrorDetail[] = []): void {
  if (violations.length > 0)
    throw validationFailed(violations.map((violation) => ({ ...violation, path: `${path}.${violation.path}` })));
}

/** Another open attempt changes the same account. */
export const otherAttemptViolation = (
  path: string,
  message = 'changes an account that another rotation is currently changing',
): AppError => new AppError('ROTATION_RUNNING', undefined, { details: [{ path, code: 'ROTATION_RUNNING', message }] });

/** @throws VALIDATION_FAILED if the connection or folder differs from that of the rotation */
function refuseChanged(
  input: z.output<typeof UpdateRotation>,
  rotation: { readonly connectionId: string; readonly environment: string; readonly path: string },
): void {
  const { connectionId, environment, secretPath } = input;
  const path = secretPath == null || secretPath === '/' ? secretPath : secretPath.replace(/\/$/, '');
  const pairs = [
    ['connectionId', connectionId?.toLowerCase(), rotation.connectionId],
    ['environment', environment, rotation.environment],
    ['secretPath', path, rotation.path],
  ] as const;
  const violations = pairs.filter(([, given, present]) => given != null && given !== present);
  if (violations.length > 0) throw validationFailed(violations.map(([field]) => invalid(field, 'cannot change')));
}

const scheduleOf = (
  { schedule, apartFrom }: Pick<z.output<typeof UpdateRotation>, 'schedule' | 'apartFrom'>,
  present = DEFAULT_SCHEDULE,
): ScheduleExtras => ({ ...(schedule ?? present), apart: apartFrom ?? present.apart });

const sealedTexts = (texts: Readonly<Record<string, string>>): Readonly<Record<string, SealedText>> =>
  Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, new SealedText(text)]));

const withoutUndefined = <T extends object>(changes: T): T =>
  Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined)) as T;

/** The content of a rotation with its type, which the input wraps it in. */
interface ChosenContent {
  readonly type: RotationType;
  /** Path of the content in the request. */
  readonly path: string;
  readonly parameters?: Readonly<Record<string, unknown>> | undefined;
  readonly secretsMapping?: Readonly<Record<string, string>> | undefined;
  readonly temporaryParameters?: Readonly<Record<string, string>> | null | undefined;
}

/** The content of the given type. */
function chosen(content: z.output<typeof Content> | z.output<typeof ContentChange>): ChosenContent {
  for (const type of ROTATION_TYPES) {
    const given = content[fieldOf(type)];
    // All rules of mappings and temporary parameters are for strings.
    if (given !== undefined) return { ...(given as object), type, path: `content.${fieldOf(type)}` };
  }
  throw new Error('the rules accepted an input without a type');
}
