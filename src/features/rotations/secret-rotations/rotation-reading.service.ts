import { disclosureOf } from '../../../kernel/audit/disclosure.js';
import type { Context } from '../../../kernel/context.js';
import type { SealedText } from '../../../kernel/crypto/sealed-text.js';
import { emOf } from '../../../kernel/database/database.js';
import { AppError } from '../../../kernel/errors.js';
import { orderedPageOf } from '../../../kernel/list-order.js';
import {
  type Counted,
  type CountedConnectionOf,
  counted,
  Page,
  timeCursorKey,
  timePageBounds,
} from '../../../kernel/paging.js';
import { parse } from '../../../kernel/validation.js';
import type { ProjectAccess, ProjectReader } from '../../projects/public.js';
import { credentialsOf } from './engine/work.js';
import type { Kinds } from './kinds/kinds.js';
import { ListAttempts, ListRotations, OneRotation, RotationByName } from './rotation.rules.js';
import { RotationAccess, type ShownRotation, withMessages } from './rotation-access.js';
import { SecretRotationAttempt } from './store/attempt.entity.js';
import { type AttemptRow, listAttempts } from './store/attempt.queries.js';
import type { RotationView } from './store/rotation.sql.js';

/** A credential in plaintext, with its slot. */
export interface GeneratedCredential {
  readonly slot: number;
  readonly isActive: boolean;
  readonly createdAt: Date;
  readonly shown: Readonly<Record<string, string | number>>;
  readonly secrets: Readonly<Record<string, SealedText>>;
}

/** One page of rotations and the total count. */
type ListedRotations = Page<ShownRotation> & Pick<CountedConnectionOf<ShownRotation>, 'totalCount'>;

/**
 * Reads rotations, their credentials and attempts.
 *
 * Every method that takes `raw`, its unvalidated input, throws VALIDATION_FAILED, PERMISSION_DENIED, PROJECT_NOT_FOUND or
 * SECRET_ROTATION_NOT_FOUND, and AUDIT_UNAVAILABLE.
 */
export class RotationReadingService {
  private readonly access: RotationAccess;

  constructor(
    projects: ProjectReader,
    private readonly kinds: Kinds,
  ) {
    this.access = new RotationAccess(projects);
  }

  /**
   * Returns one rotation by ID.
   *
   * Source: operation 16 of the specification.
   */
  async get(ctx: Context, raw: unknown): Promise<ShownRotation> {
    const { rotation } = await this.access.load(ctx, parse(OneRotation, raw), 'secret-rotation:read');
    return withReadRecord(ctx, rotation);
  }

  /** Returns one rotation by name and folder. */
  async getByName(ctx: Context, raw: unknown): Promise<ShownRotation> {
    const { projectId, environment, secretPath, name, type } = parse(RotationByName, raw);
    const found = (await this.access.list(ctx, projectId)).find(
      (row) =>
        row.name === name &&
        row.environment === environment &&
        row.path === secretPath &&
        (type == null || row.type === type),
    );
    if (found === undefined) throw new AppError('SECRET_ROTATION_NOT_FOUND');
    return withReadRecord(ctx, found);
  }

  /** Lists rotations of a project that the caller can read, by name or in another order. */
  async list(ctx: Context, raw: unknown): Promise<ListedRotations> {
    const { projectId, type, ...request } = parse(ListRotations, raw);
    const rows = await this.access.list(ctx, projectId);
    const found = rows.filter((row) => type == null || row.type === type);
    const page: Page<RotationView> = orderedPageOf(found, request, { orderable: (row) => row });
    const shown = new Map((await withMessages(ctx, page.nodes)).map((row) => [row.id, row]));
    await ctx.auditTrail.recordRead(ctx, {
      action: 'secret-rotation:list',
      projectId: projectId.toLowerCase(),
      facts: { count: page.nodes.length },
    });
    return counted(
      page.show(({ id }) => shown.get(id) as ShownRotation),
      async () => found.length,
    );
  }

  /** Lists rotations of a project nested in a response. */
  listInProject(ctx: Context, project: ProjectAccess): Promise<readonly ShownRotation[]> {
    return this.access.listInProject(ctx, project);
  }

  /** The supported types. Needs no permissions. */
  async listKinds(ctx: Context): Promise<Kinds['all']> {
    await ctx.auditTrail.recordRead(ctx, { action: 'secret-rotation:list-kinds', facts: {} });
    return this.kinds.all;
  }

  /** The generated credentials by slot. The audit trail records them as disclosed. */
  async credentials(
    ctx: Context,
    raw: unknown,
  ): Promise<{ rotation: RotationView; credentials: GeneratedCredential[] }> {
    const action = 'secret-rotation:read-generated-credentials';
    const { rotation } = await this.access.load(ctx, parse(OneRotation, raw), action);
    const kind = this.kinds.of(rotation.type);
    const credentials = (await credentialsOf(ctx, rotation)).map(({ slot, createdAt, credential }) => ({
      ...{ slot, createdAt, shown: credential.shown },
      isActive: slot === rotation.activeIndex,
      secrets: kind.secretsOf(credential),
    }));
    await ctx.auditTrail.recordRead(ctx, {
      action,
      projectId: rotation.projectId,
      facts: { rotationId: rotation.id, count: credentials.length },
      disclosed: disclosureOf([rotation.id]),
    });
    return { rotation, credentials };
  }

  /** The attempts of a rotation, newest first. */
  async attempts(ctx: Context, raw: unknown): Promise<Page<AttemptRow> & Counted> {
    const { id, type, ...request } = parse(ListAttempts, raw);
    const bounds = timePageBounds(request);
    const { rotation } = await this.access.load(ctx, { id, type }, 'secret-rotation:read');
    const rows = await listAttempts(ctx, { rotationId: rotation.id, ...bounds });
    await ctx.auditTrail.recordRead(ctx, {
      action: 'secret-rotation:list-attempts',
      projectId: rotation.projectId,
      facts: { rotationId: rotation.id, count: rows.length },
    });
    const page = new Page(rows, request, (row) => timeCursorKey(row.createdAt, row.id));
    return counted(page, () => emOf(ctx).count(SecretRotationAttempt, { rotationId: rotation.id }));
  }
}

async function withReadRecord(ctx: Context, rotation: RotationView): Promise<ShownRotation> {
  const [shown] = await withMessages(ctx, [rotation]);
  await ctx.auditTrail.recordRead(ctx, auditOfRead(rotation));
  return shown as ShownRotation;
}

/** The audit record of reading a rotation. */
export const auditOfRead = ({ id, projectId }: Pick<RotationView, 'id' | 'projectId'>) => ({
  action: 'secret-rotation:get',
  projectId,
  facts: { rotationId: id },
});
