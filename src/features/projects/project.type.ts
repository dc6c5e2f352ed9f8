import { Field, ID, InputType, Int, ObjectType, registerEnumType } from 'type-graphql';
import { DateTime } from '../../kernel/graphql/date-time.js';
import { Node } from '../../kernel/graphql/node.js';
import { countedConnectionOf } from '../../kernel/graphql/page.js';
import { type CountedConnectionOf, counted } from '../../kernel/paging.js';
import { type EnvironmentType, toEnvironmentType } from './environment.type.js';
import type { ProjectAccess } from './project.records.js';
import type { ProjectKind } from './project.rules.js';
import type { ListedProjects, ReadProject } from './project.service.js';

const KEPT_VERSIONS =
  'How many versions of each secret are kept, 1 to 100. Versions that the service itself writes when references follow a rename are counted separately: the newest of them are kept, up to the same number, and the last one before each other version.';

/** GraphQL's names of the project types. */
export const ProjectKindEnum = {
  SECRET_MANAGER: 'secret-manager',
  CERT_MANAGER: 'cert-manager',
  KMS: 'kms',
  SSH: 'ssh',
  SECRET_SCANNING: 'secret-scanning',
  PAM: 'pam',
  AI: 'ai',
} as const satisfies Record<string, ProjectKind>;
registerEnumType(ProjectKindEnum, {
  name: 'ProjectType',
  description: 'What a project is for.',
  valuesConfig: {
    SECRET_MANAGER: { description: 'Secrets in environments and folders.' },
    CERT_MANAGER: { description: 'Certificates and alerts about them.' },
    KMS: { description: 'Keys.' },
    SSH: { description: 'SSH certificates.' },
    SECRET_SCANNING: { description: 'Leaked secrets in sources.' },
    PAM: { description: 'Privileged access.' },
    AI: { description: 'Access of AI agents.' },
  },
});

/** GraphQL's names of the states of a change of version. */
export const UpgradeStatusEnum = { IN_PROGRESS: 'IN_PROGRESS', FAILED: 'FAILED' } as const;
export type UpgradeStatus = keyof typeof UpgradeStatusEnum;
registerEnumType(UpgradeStatusEnum, {
  name: 'ProjectUpgradeStatus',
  description: 'How far a change of the version of a project has come.',
  valuesConfig: { IN_PROGRESS: { description: 'It runs.' }, FAILED: { description: 'It has failed.' } },
});

/** What the API shows of a project. `access` is for field resolvers and is no field itself. */
@ObjectType('Project', {
  implements: Node,
  description: 'A container of environments and what is in them.',
  simpleResolvers: true,
})
export class ProjectType {
  readonly access!: ProjectAccess;

  @Field(() => ID, { description: 'ID of the project.' })
  id!: string;

  @Field(() => String, { description: 'What people call it.' })
  name!: string;

  @Field(() => ProjectKindEnum, { description: 'What it is for.' })
  type!: ProjectKind;

  @Field(() => String, { description: 'What programs name it by; unique in the organization.' })
  slug!: string;

  @Field(() => ID, { description: 'ID of the organization.' })
  organizationId!: string;

  @Field(() => DateTime, { description: 'When it was made.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When it was last changed.' })
  updatedAt!: Date;

  /** All of them: the field of the API may show some. */
  environments!: EnvironmentType[];

  @Field(() => String, { nullable: true, description: 'What it is about, in words.' })
  description!: string | null;

  @Field(() => ProjectKindEnum, {
    nullable: true,
    description: 'The type of the project, under its older name.',
    deprecationReason: 'It is the type: ask for `type`.',
  })
  defaultProduct!: ProjectKind | null;

  @Field(() => Boolean, { nullable: true, description: 'Whether clients should write secret keys in capitals.' })
  autoCapitalization!: boolean | null;

  @Field(() => Int, { description: 'Version of the way in which the project is kept.' })
  version!: number;

  @Field(() => UpgradeStatusEnum, {
    nullable: true,
    description: 'How far a change of version has come; null: none is under way.',
  })
  upgradeStatus!: UpgradeStatus | null;

  @Field(() => Int, { description: KEPT_VERSIONS })
  pitVersionLimit!: number;

  @Field(() => ID, { nullable: true, description: 'The key of its certificates; null until there are any.' })
  kmsCertificateKeyId!: string | null;

  @Field(() => Int, { nullable: true, description: 'For how many days its audit records are kept; null: for ever.' })
  auditLogsRetentionDays!: number | null;

  @Field(() => Boolean, { nullable: true, description: 'While true, the project cannot be deleted.' })
  hasDeleteProtection!: boolean | null;

  @Field(() => Boolean, { description: 'Whether secrets of the project may be shared by link.' })
  secretSharing!: boolean;

  @Field(() => Boolean, { description: 'Whether clients show snapshots of the old kind.' })
  showSnapshotsLegacy!: boolean;

  @Field(() => [String], {
    nullable: true,
    description:
      'Values that leak detection passes over. Null when there are none, or without the right to read settings.',
  })
  secretDetectionIgnoreValues!: readonly string[] | null;

  @Field(() => Boolean, { nullable: true, description: 'Whether every metadata entry of a secret must be encrypted.' })
  enforceEncryptedSecretManagerSecretMetadata!: boolean | null;

  @Field(() => ID, { description: 'The key of the organization that wraps the data key of this project.' })
  kmsSecretManagerKeyId!: string;
}

export const ProjectConnection = countedConnectionOf(ProjectType, 'Project', 'name, then ID');

export const toProjectType = ({ access, ...record }: ReadProject): ProjectType => ({
  ...record,
  access,
  id: access.projectId,
  name: access.name,
  type: access.type,
  slug: access.slug,
  organizationId: access.organizationId,
  enforceEncryptedSecretManagerSecretMetadata: access.enforceEncryptedSecretMetadata,
  environments: record.environments.map((environment) => toEnvironmentType(environment, access)),
});

/** A list as the API shows it. */
export const toProjectConnection = ({ page, keyOf, totalCount }: ListedProjects): CountedConnectionOf<ProjectType> =>
  counted(page.map(toProjectType, keyOf), totalCount);

@InputType({ description: 'What a new project is.' })
export class CreateProjectInput {
  @Field(() => String, { description: 'What people call it, 1 to 64 characters.' })
  name!: string;

  @Field(() => String, { nullable: true, description: 'What it is about, up to 1,024 characters.' })
  description?: string | null;

  @Field(() => String, {
    nullable: true,
    description:
      'Lower-case words joined by hyphens, as `web-shop`, 5 to 36 characters, unique in the organization. Made from the name and four random characters when absent.',
  })
  slug?: string | null;

  @Field(() => ID, {
    nullable: true,
    description: 'A key of the organization that wraps the data key of the project; its newest when absent.',
  })
  kmsKeyId?: string | null;

  @Field(() => String, { defaultValue: 'default', description: 'Name of the template that it is made from.' })
  template!: string;

  @Field(() => ProjectKindEnum, { defaultValue: ProjectKindEnum.SECRET_MANAGER, description: 'What it is for.' })
  type!: ProjectKind;

  @Field(() => Boolean, {
    defaultValue: true,
    description: 'Whether it starts with Development, Staging and Production.',
  })
  shouldCreateDefaultEnvs!: boolean;

  @Field(() => Boolean, { defaultValue: false, description: 'While true, the project cannot be deleted.' })
  hasDeleteProtection!: boolean;
}

@ObjectType({ description: 'The new project.' })
export class CreateProjectPayload {
  @Field(() => ProjectType, { description: 'The project; the caller is its first admin.' })
  project!: ProjectType;
}

@InputType({ description: 'What changes of a project; what is absent stays.' })
export class UpdateProjectInput {
  @Field(() => ID, { description: 'ID of the project.' })
  id!: string;

  @Field(() => String, { nullable: true, description: 'What people call it, 1 to 64 characters.' })
  name?: string;

  @Field(() => String, { nullable: true, description: 'What it is about, up to 1,024 characters; null clears it.' })
  description?: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'Lower-case words joined by hyphens, as `web-shop`, 1 to 64 characters, unique in the organization.',
  })
  slug?: string;

  @Field(() => Boolean, { nullable: true, description: 'Whether clients should write secret keys in capitals.' })
  autoCapitalization?: boolean;

  @Field(() => Boolean, { nullable: true, description: 'While true, the project cannot be deleted.' })
  hasDeleteProtection?: boolean;

  @Field(() => Boolean, { nullable: true, description: 'Whether secrets of the project may be shared by link.' })
  secretSharing?: boolean;

  @Field(() => Boolean, { nullable: true, description: 'Whether clients show snapshots of the old kind.' })
  showSnapshotsLegacy?: boolean;

  @Field(() => Boolean, { nullable: true, description: 'Whether every metadata entry of a secret must be encrypted.' })
  enforceEncryptedSecretManagerSecretMetadata?: boolean;

  @Field(() => Int, { nullable: true, description: KEPT_VERSIONS })
  pitVersionLimit?: number;

  @Field(() => [String], {
    nullable: true,
    description: 'Values that leak detection passes over, up to 500; null clears them. Only for admins of the project.',
  })
  secretDetectionIgnoreValues?: string[] | null;
}

@ObjectType({ description: 'The project after the change.' })
export class UpdateProjectPayload {
  @Field(() => ProjectType, { description: 'The project.' })
  project!: ProjectType;
}

@InputType({ description: 'The project to delete, with everything in it.' })
export class DeleteProjectInput {
  @Field(() => ID, { description: 'ID of the project.' })
  id!: string;
}

@ObjectType({ description: 'The deleted project.' })
export class DeleteProjectPayload {
  @Field(() => ProjectType, { description: 'As it was before the deletion.' })
  project!: ProjectType;
}
