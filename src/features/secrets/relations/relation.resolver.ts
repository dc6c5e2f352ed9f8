import type { GraphQLResolveInfo } from 'graphql';
import { type ClassType, Ctx, FieldResolver, Info, Resolver, Root } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { batched, linked } from '../../../kernel/database/batched.js';
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

/** Adds the field `environment` to a type with an `environmentId`. @returns a resolver class */
function environmentRelationOf(
  type: ClassType<{ readonly environmentId: string }>,
): new (
  projects: ProjectRelations,
) => object {
  @Resolver(() => type)
  class EnvironmentRelationResolver {
    constructor(private readonly projects: ProjectRelations) {}

    @FieldResolver(() => EnvironmentType, {
      nullable: true,
      description: 'The environment; null with PERMISSION_DENIED if you cannot read environments.',
    })
    async environment(
      @Root() { environmentId }: { environmentId: string },
      @Ctx() ctx: Context,
    ): Promise<EnvironmentType | null> {
      const found = await linked(ctx, this.projects.environments, environmentId);
      return found === null ? null : toEnvironmentType(found.environment, found.access);
    }
  }
  return EnvironmentRelationResolver;
}

/** Adds the field `folder` to a type with a `folderId`. @returns a resolver class */
function folderRelationOf(type: ClassType<{ readonly folderId: string }>): new (relations: SecretRelations) => object {
  @Resolver(() => type)
  class FolderRelationResolver {
    constructor(private readonly relations: SecretRelations) {}

    @FieldResolver(() => FolderType, {
      nullable: true,
      description: 'The folder; null if it was deleted, and null with PERMISSION_DENIED if you cannot read it.',
    })
    folder(@Root() { folderId }: { folderId: string }, @Ctx() ctx: Context): Promise<FolderType | null> {
      return linked(ctx, this.relations.folders, folderId);
    }
  }
  return FolderRelationResolver;
}

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

@Resolver(() => SecretActorType)
export class SecretActorRelationResolver {
  constructor(private readonly projects: ProjectRelations) {}

  @FieldResolver(() => UserType, {
    nullable: true,
    description: 'The user; null for other actors, and null with PERMISSION_DENIED if you cannot read members.',
  })
  user(@Root() { actorId, actorType }: SecretActorType, @Ctx() ctx: Context): Promise<UserType | null> {
    return linked(ctx, usersByIds, actorType === 'user' ? actorId : null);
  }

  @FieldResolver(() => IdentityType, {
    nullable: true,
    description:
      'The machine identity; null for other actors, and null with PERMISSION_DENIED if you cannot read identities.',
  })
  identity(@Root() { actorId, actorType }: SecretActorType, @Ctx() ctx: Context): Promise<IdentityType | null> {
    return linked(ctx, identitiesByIds, actorType === 'identity' ? actorId : null);
  }

  @FieldResolver(() => ProjectMembershipType, {
    nullable: true,
    description:
      'The membership of the actor in the project; null if it has none, and null with PERMISSION_DENIED if you cannot read it.',
  })
  membership(@Root() { membershipId }: SecretActorType, @Ctx() ctx: Context): Promise<ProjectMembershipType | null> {
    return linked(ctx, this.projects.memberships, membershipId);
  }
}

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
  relations: SecretRelations,
  folders: FolderReadingService,
): object[] => [
  ...IN_PROJECTS.map((type) => new (projectRelationOf(type))(projects)),
  ...IN_ENVIRONMENTS.map((type) => new (environmentRelationOf(type))(projects)),
  ...IN_FOLDERS.map((type) => new (folderRelationOf(type))(relations)),
  ...OF_SECRETS.map((type) => new (secretRelationOf(type))(relations)),
  ...[MoveSecretsPayload, CopySecretsPayload].map((type) => new (secretListRelationOf(type))(relations)),
  ...[SecretType, SecretVersionType].map((type) => new (recipientRelationOf(type))()),
  new SecretActorRelationResolver(projects),
  new FolderTreeResolver(relations, folders),
  new EnvironmentFolderPagesResolver(folders),
];
