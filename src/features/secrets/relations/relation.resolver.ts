import type { GraphQLResolveInfo } from 'graphql';
import { type ClassType, Ctx, FieldResolver, Info, Resolver, Root } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { batched, linked } from '../../../kernel/database/batched.js';
import { leadsTo, relations } from '../../../kernel/graphql/relations.js';
import { selects } from '../../../kernel/graphql/selection.js';
import { IdentityType, identitiesByIds } from '../../identity/identities/public.js';
import { UserType, usersByIds } from '../../identity/organizations/public.js';
import {
  EnvironmentType,
  ProjectMembershipType,
  type ProjectRelations,
  projectRelationOf,
  toEnvironmentType,
} from '../../projects/public.js';
import { SecretActorType, SecretImportEntry, SecretReadIssue, SecretType, toSecretType } from '../core/secret.type.js';
import { FolderType } from '../folders/folder.type.js';
import type { FolderReadingService } from '../folders/folder-reading.service.js';
import { ImportEndType, ImportType } from '../folders/import.type.js';
import { SecretComparisonSideType } from '../search/comparison.type.js';
import { DuplicateSecretType } from '../search/duplicates.type.js';
import { SecretSearchHitType } from '../search/search.type.js';
import { SecretUseType } from '../search/usage.type.js';
import { DeletedSecretType, SecretVersionSummaryType, SecretVersionType } from '../versions/version.type.js';
import { CopySecretsPayload, MoveSecretsPayload } from '../writing/secret-writing.type.js';
import { EnvironmentFolderPagesResolver, FolderTreeResolver } from './folder-relation.resolver.js';
import type { SecretRelations } from './secret.relations.js';

const environmentRelationOf = (
  type: ClassType<{ readonly environmentId: string }>,
  { environments }: Pick<ProjectRelations, 'environments'>,
): object =>
  relations(type, {
    environment: leadsTo(
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
    folder: leadsTo(
      FolderType,
      'The folder; null if it was deleted, and null with PERMISSION_DENIED if you cannot read it.',
      folders,
      ({ folderId }) => folderId,
    ),
  });

/** Adds the field `secret` to a type with a `secretId`. @returns a resolver class */
function secretRelationOf(
  type: ClassType<{ readonly secretId: string | null }>,
): new (
  relations: SecretRelations,
) => object {
  @Resolver(() => type)
  class SecretRelationResolver {
    constructor(private readonly relations: SecretRelations) {}

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
      const load = this.relations.shown(VALUE_FIELDS.some((field) => selects(info, [field])));
      const found = await linked(ctx, load, secretId);
      return found === null ? null : toSecretType(found);
    }
  }
  return SecretRelationResolver;
}

/** Adds the field `secrets` to a type with `secretIds`. @returns a resolver class */
function secretListRelationOf(
  type: ClassType<{ readonly secretIds: readonly string[] }>,
): new (
  relations: SecretRelations,
) => object {
  @Resolver(() => type)
  class SecretListRelationResolver {
    constructor(private readonly relations: SecretRelations) {}

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
      const load = this.relations.shown(VALUE_FIELDS.some((field) => selects(info, [field])));
      const found = await Promise.all(secretIds.map((id) => batched(ctx, load, id)));
      return found.flatMap((view) => (view === undefined ? [] : [toSecretType(view)]));
    }
  }
  return SecretListRelationResolver;
}

/** Fields of a secret that depend on its value. */
const VALUE_FIELDS = ['secretValue', 'secretValueHidden'];

/** Adds the users to remind to secrets and their versions. @returns a resolver class */
function recipientRelationOf(
  type: ClassType<{ readonly secretReminderRecipients: readonly string[] }>,
): new () => object {
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
  return RecipientRelationResolver;
}

const actorRelations = ({ memberships }: Pick<ProjectRelations, 'memberships'>): object =>
  relations(SecretActorType, {
    user: leadsTo(
      UserType,
      'The user; null for other actors, and null with PERMISSION_DENIED if you cannot read members.',
      usersByIds,
      ({ actorId, actorType }) => (actorType === 'user' ? actorId : null),
    ),
    identity: leadsTo(
      IdentityType,
      'The machine identity; null for other actors, and null with PERMISSION_DENIED if you cannot read identities.',
      identitiesByIds,
      ({ actorId, actorType }) => (actorType === 'identity' ? actorId : null),
    ),
    membership: leadsTo(
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
];
const IN_FOLDERS = [SecretType, ImportEndType, SecretImportEntry, SecretVersionType, SecretUseType];
const OF_SECRETS = [SecretVersionType, SecretUseType, SecretComparisonSideType, DuplicateSecretType, SecretReadIssue];

/** Resolvers of the relations of secrets and folders. */
export const secretRelations = (
  projects: ProjectRelations,
  links: SecretRelations,
  folders: FolderReadingService,
): object[] => [
  ...IN_PROJECTS.map((type) => projectRelationOf(type, projects)),
  ...IN_ENVIRONMENTS.map((type) => environmentRelationOf(type, projects)),
  ...IN_FOLDERS.map((type) => folderRelationOf(type, links)),
  ...OF_SECRETS.map((type) => new (secretRelationOf(type))(links)),
  ...[MoveSecretsPayload, CopySecretsPayload].map((type) => new (secretListRelationOf(type))(links)),
  ...[SecretType, SecretVersionType].map((type) => new (recipientRelationOf(type))()),
  actorRelations(projects),
  new FolderTreeResolver(links, folders),
  new EnvironmentFolderPagesResolver(folders),
];
