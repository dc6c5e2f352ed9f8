import type { GraphQLResolveInfo } from 'graphql';
import { type ClassType, Ctx, FieldResolver, Info, Resolver, Root } from 'type-graphql';
import type { AuditEvent } from '../../../kernel/audit/audit-record.js';
import { disclosureOf } from '../../../kernel/audit/disclosure.js';
import { authorize } from '../../../kernel/authz/ability.js';
import type { Context } from '../../../kernel/context.js';
import { unreadableCode } from '../../../kernel/crypto/sealed-text.js';
import type { Sealer } from '../../../kernel/crypto/sealer.js';
import { type BatchLoad, batched, batchedOrNull, type Found, mapFound } from '../../../kernel/database/batched.js';
import { queryOf } from '../../../kernel/database/database.js';
import { AppError } from '../../../kernel/errors.js';
import { filterYielding } from '../../../kernel/event-loop.js';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { type NodeKind, nodeKind } from '../../../kernel/graphql/node.js';
import { objectType } from '../../../kernel/graphql/object-types.js';
import { relations, relationTo } from '../../../kernel/graphql/relations.js';
import { selectsField } from '../../../kernel/graphql/selection.js';
import { accountIds, accountRelations } from '../../identity/identities/public.js';
import { UserType, usersByIds } from '../../identity/organizations/public.js';
import {
  EnvironmentType,
  ProjectMembershipType,
  type ProjectRelations,
  projectRelationOf,
  REACH_OF_MEMBER,
  toEnvironmentType,
} from '../../projects/public.js';
import { listByIds, type SecretRecord } from '../core/find-secrets.js';
import { listValueAges } from '../core/secret.queries.js';
import { SecretActorType, SecretImportEntry, SecretReadIssue, SecretType, toSecretType } from '../core/secret.type.js';
import { type SecretView, SecretViewer } from '../core/secret.view.js';
import { acquireReadSlot, reserveRows } from '../core/secret-read-limits.js';
import { openersFor } from '../core/secret-sealing.js';
import { FolderType } from '../folders/folder.resolver.js';
import { findFolders, type ReadFolder } from '../folders/folder.sql.js';
import { ImportEndType, ImportType } from '../folders/import.resolver.js';
import { findImports, type ImportRow } from '../folders/import.sql.js';
import { listReferences, MOST_AT_ONCE } from '../references/reference.sql.js';
import { parentOf } from '../scope/location.rules.js';
import { authorizeListing, Visibility } from '../scope/visibility.rules.js';
import {
  DuplicateSecretType,
  SecretComparisonSideType,
  SecretSearchHitType,
  SecretUseType,
} from '../search/search.resolver.js';
import { SecretWithValueType } from '../search/value-search.resolver.js';
import { DeletedSecretType, SecretVersionSummaryType, SecretVersionType } from '../versions/version.resolver.js';
import { CopySecretsPayload, MoveSecretsPayload } from '../writing/secret-writing.resolver.js';

const environmentRelationOf = (
  type: ClassType<{ readonly environmentId: string }>,
  { environments }: Pick<ProjectRelations, 'environments'>,
): object =>
  relations(type, {
    environment: relationTo(
      EnvironmentType,
      'The environment; null with PERMISSION_DENIED if you cannot read environments.',
      environments,
      ({ environmentId }) => environmentId,
      ({ environment, access }) => toEnvironmentType(environment, access),
    ),
  });

const folderRelationOf = (
  type: ClassType<{ readonly folderId: string }>,
  { folders }: Pick<SecretRelations, 'folders'>,
): object =>
  relations(type, {
    folder: relationTo(
      FolderType,
      'The folder; null if it was deleted, and null with PERMISSION_DENIED if you cannot read it.',
      folders,
      ({ folderId }) => folderId,
    ),
  });

const parentRelation = ({ folders }: Pick<SecretRelations, 'folders'>): object =>
  relations(FolderType, {
    parent: relationTo(
      FolderType,
      'The parent folder; null for the root folder, and when you cannot read it.',
      folders,
      ({ parentId }) => parentId,
    ),
  });

/** Fields of a secret that depend on its value. */
const VALUE_FIELDS = ['secretValue', 'isSecretValueHidden'];
const selectsValue = (info: GraphQLResolveInfo): boolean => VALUE_FIELDS.some((field) => selectsField(info, [field]));

/** The field `secret` of a type with a `secretId`. */
function secretRelationOf(type: ClassType<{ readonly secretId: string | null }>, links: SecretRelations): object {
  @Resolver(() => type)
  class SecretRelationResolver {
    @FieldResolver(() => SecretType, {
      nullable: true,
      description:
        'The current secret; null if there is none that you can see. The value is decrypted only if you select it.',
    })
    async secret(
      @Root() { secretId }: { secretId: string | null },
      @Ctx() ctx: Context,
      @Info() info: GraphQLResolveInfo,
    ): Promise<SecretType | null> {
      const found = await batchedOrNull(ctx, links.shown(selectsValue(info)), secretId);
      return found === null ? null : toSecretType(found);
    }
  }
  return new SecretRelationResolver();
}

/** The field `secrets` of a type with `secretIds`. */
function secretListRelationOf(
  type: ClassType<{ readonly secretIds: readonly string[] }>,
  links: SecretRelations,
): object {
  @Resolver(() => type)
  class SecretListRelationResolver {
    @FieldResolver(() => [SecretType], {
      nullable: true,
      description:
        'The current secrets of `secretIds` that you can see; null with PERMISSION_DENIED if you cannot see any ' +
        'secrets. Values are decrypted only if you select them.',
    })
    async secrets(
      @Root() { secretIds }: { secretIds: readonly string[] },
      @Ctx() ctx: Context,
      @Info() info: GraphQLResolveInfo,
    ): Promise<SecretType[]> {
      const load = links.shown(selectsValue(info));
      const found = await Promise.all(secretIds.map((id) => batched(ctx, load, id)));
      return found.flatMap((view) => (view === undefined ? [] : [toSecretType(view)]));
    }
  }
  return new SecretListRelationResolver();
}

/** The users to remind of secrets and their versions. */
function recipientRelationOf(type: ClassType<{ readonly secretReminderRecipients: readonly string[] }>): object {
  @Resolver(() => type)
  class RecipientRelationResolver {
    @FieldResolver(() => [UserType], {
      nullable: true,
      description:
        'The users of `secretReminderRecipients` who still exist; null with PERMISSION_DENIED if you cannot read members.',
    })
    async secretReminderRecipientUsers(
      @Root() { secretReminderRecipients }: { secretReminderRecipients: readonly string[] },
      @Ctx() ctx: Context,
    ): Promise<UserType[]> {
      const users = await Promise.all(secretReminderRecipients.map((id) => batched(ctx, usersByIds, id)));
      return users.filter((user) => user !== undefined);
    }
  }
  return new RecipientRelationResolver();
}

const secretAges: BatchLoad<Date> = async (ctx, ids) =>
  new Map((await listValueAges(ctx, { ids })).map(({ id, valueChangedAt }) => [id, valueChangedAt]));

/** Read apart: most who read secrets do not ask for it. */
@Resolver(() => SecretType)
class SecretAgeResolver {
  @FieldResolver(() => DateTime, {
    nullable: true,
    description:
      'When the shared value was last changed: by a person, an identity or a rotation, and not by a new comment, tag or key. A value that is set without the right to read it counts as changed, even if it is the same. For a secret from before this was recorded, when it was last changed in any way until then. Null if it was deleted in the meantime.',
  })
  async valueChangedAt(
    @Root() { id, shared }: Pick<SecretView, 'id' | 'shared'>,
    @Ctx() ctx: Context,
  ): Promise<Date | null> {
    return (await batched(ctx, secretAges, shared?.id ?? id)) ?? null;
  }
}

const SecretReferenceType = objectType('SecretReference', 'A secret that a value names, whether or not it exists.', {
  environmentSlug: [String, 'Slug of its environment, for example `prod`.'],
  secretPath: [String, 'Path of its folder, for example `/payments`.'],
  secretKey: [String, 'Its key.'],
});
type SecretReferenceType = InstanceType<typeof SecretReferenceType>;

/** Read apart, and without the value that has them. */
@Resolver(() => SecretType)
class SecretReferencesResolver {
  constructor(private readonly links: SecretRelations) {}

  @FieldResolver(() => [SecretReferenceType], {
    nullable: true,
    description:
      'What the shared value references: the first 100, those in its own folder first, then by environment, path and key. Null if you cannot read the value, and with KEY_DISABLED. The value itself is not decrypted for it, but the audit trail names it as read.',
  })
  async references(
    @Root() { id, shared }: Pick<SecretView, 'id' | 'shared'>,
    @Ctx() ctx: Context,
  ): Promise<SecretReferenceType[] | null> {
    return (await batched(ctx, this.links.references, shared?.id ?? id)) ?? null;
  }
}

const actorRelations = ({ memberships }: Pick<ProjectRelations, 'memberships'>): object =>
  relations(SecretActorType, {
    ...accountRelations<SecretActorType>(
      'The user; null for other actors, and null with PERMISSION_DENIED if you cannot read members.',
      'The machine identity; null for other actors, and null with PERMISSION_DENIED if you cannot read identities.',
      ({ actorType, actorId }) => accountIds(actorType, actorId),
    ),
    membership: relationTo(
      ProjectMembershipType,
      'The membership of the actor in the project; null if it has none, and null with PERMISSION_DENIED if you cannot read it.',
      memberships,
      ({ membershipId }) => membershipId,
    ),
  });

const IN_PROJECTS = [
  SecretType,
  FolderType,
  ImportType,
  SecretVersionType,
  SecretUseType,
  SecretSearchHitType,
  DuplicateSecretType,
  SecretWithValueType,
];
const IN_ENVIRONMENTS = [
  SecretType,
  FolderType,
  ImportEndType,
  SecretImportEntry,
  SecretVersionType,
  SecretVersionSummaryType,
  DeletedSecretType,
  SecretUseType,
  SecretComparisonSideType,
  DuplicateSecretType,
  SecretWithValueType,
];
const IN_FOLDERS = [SecretType, ImportEndType, SecretImportEntry, SecretVersionType, SecretUseType];
const OF_SECRETS = [
  SecretVersionType,
  SecretUseType,
  SecretComparisonSideType,
  DuplicateSecretType,
  SecretWithValueType,
  SecretReadIssue,
];

/** Resolvers of the relations of secrets and folders. */
export const secretRelations = (projects: ProjectRelations, links: SecretRelations): object[] => [
  ...IN_PROJECTS.map((type) => projectRelationOf(type, projects)),
  ...IN_ENVIRONMENTS.map((type) => environmentRelationOf(type, projects)),
  ...IN_FOLDERS.map((type) => folderRelationOf(type, links)),
  ...OF_SECRETS.map((type) => secretRelationOf(type, links)),
  ...[MoveSecretsPayload, CopySecretsPayload].map((type) => secretListRelationOf(type, links)),
  ...[SecretType, SecretVersionType].map(recipientRelationOf),
  new SecretAgeResolver(),
  new SecretReferencesResolver(links),
  actorRelations(projects),
  parentRelation(links),
];

/** The types of secrets that are found by ID alone. */
export function secretNodes(relations: SecretRelations): NodeKind[] {
  const secrets: BatchLoad<SecretType> = async (ctx, ids) => mapFound(await relations.secrets(ctx, ids), toSecretType);
  return [
    nodeKind({
      type: 'Folder',
      table: 'folder',
      reach: REACH_OF_MEMBER,
      load: relations.folders,
      record: ({ id, projectId }) => ({ action: 'folder:get', projectId, facts: { folderId: id } }),
    }),
    nodeKind({
      type: 'SecretImport',
      table: 'secret_import',
      reach: REACH_OF_MEMBER,
      load: relations.imports,
      record: ({ id, projectId }) => ({ action: 'secret-import:get', projectId, facts: { importId: id } }),
    }),
    nodeKind({
      type: 'Secret',
      table: 'secret',
      reach: REACH_OF_MEMBER,
      load: secrets,
      record: recordOf,
    }),
  ];
}

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

  /**
   * What the values of secrets reference, by their IDs. Those whose values the caller may not read are left out. As it is a part of the
   * values, it is recorded as a read of these, and refused with KEY_DISABLED where they are.
   */
  readonly references: BatchLoad<SecretReferenceType[]> = async (ctx, ids) => {
    const found = await this.#readable(ctx, await listByIds(ctx, ids, false));
    const readable = [...found.values()].flatMap((value) => (value instanceof Error ? [] : [value]));
    const open = await filterYielding(
      readable,
      ({ row, visibility }) => visibility.describes(row) && visibility.readsValue(row),
    );
    const byProject = Map.groupBy(open, ({ row }) => row.projectId);
    const refused = new Map<string, Error>();
    for (const [projectId, secrets] of byProject) {
      const code = await ctx.keyring.refuseDisabled(queryOf(ctx), projectId).catch(unreadableCode);
      if (code === undefined) continue;
      for (const { row } of secrets) refused.set(row.id, new AppError(code));
      byProject.delete(projectId);
    }
    const shown = [...byProject.values()].flat();
    const references = await listReferences(ctx, { ids: shown.map(({ row }) => row.id) });
    await ctx.load?.work.countMade(references.length > MOST_AT_ONCE ? Number.POSITIVE_INFINITY : references.length);
    const records = [...byProject].map(([projectId, secrets]) => ({
      action: 'secret:list-references',
      projectId,
      facts: { count: secrets.length },
      disclosed: disclosureOf(secrets.map(({ row }) => row.id)),
    }));
    await ctx.auditTrail.recordRead(ctx, ...records);
    const bySecret = Map.groupBy(references, ({ secretId }) => secretId);
    const named = shown.map(({ row }): [string, SecretReferenceType[]] => [
      row.id,
      (bySecret.get(row.id) ?? []).map(({ environment, path, key }) => ({
        environmentSlug: environment ?? row.environment,
        secretPath: path ?? row.path,
        secretKey: key,
      })),
    ]);
    return new Map<string, SecretReferenceType[] | Error>([...refused, ...named]);
  };

  #readable(ctx: Context, records: readonly SecretRecord[]) {
    return this.projects.readable(ctx, records, (row, access) => {
      authorizeListing(access);
      return { row, visibility: new Visibility(access.ability) };
    });
  }

  async #secrets(ctx: Context, ids: readonly string[], viewSecretValue: boolean): Promise<Found<SecretView>> {
    if (viewSecretValue) await acquireReadSlot(ctx, ids.length, 'large');
    const records = await listByIds(ctx, ids, viewSecretValue);
    const found = await this.#readable(ctx, records);
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
const recordOf = ({
  id,
  projectId,
  version,
  isSecretValueHidden,
}: Pick<SecretView, 'id' | 'projectId' | 'version' | 'isSecretValueHidden'>): AuditEvent => ({
  action: 'secret:get',
  projectId,
  facts: { secretId: id, version, viewedValues: !isSecretValueHidden, expandedReferences: false },
  disclosed: disclosureOf(isSecretValueHidden ? [] : [id]),
});
