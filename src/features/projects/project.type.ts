import { Field, ID, Int, ObjectType, registerEnumType } from 'type-graphql';
import { DateTime } from '../../kernel/graphql/date-time.js';
import { argsType, enumOfRule, inputType } from '../../kernel/graphql/inputs.js';
import '../../kernel/graphql/list-order.js';
import { Node } from '../../kernel/graphql/node.js';
import { countedConnectionOf } from '../../kernel/graphql/page.js';
import { type CountedConnectionOf, counted } from '../../kernel/paging.js';
import {
  ENCRYPTED_METADATA,
  KEPT_VERSIONS,
  LEGACY_SNAPSHOTS,
  type ProjectKind,
  ProjectPage,
  projectKind,
  SHARED_LINKS,
  UPPER_CASE_KEYS,
  UpdateProject,
} from './core/project.rules.js';
import type { ProjectAccess } from './core/project-access.js';
import { type EnvironmentType, toEnvironmentType } from './environments/environment.type.js';
import type { ListedProjects, ReadProject } from './project.service.js';

/** GraphQL names of the project types. */
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
  description: 'Purpose of a project.',
  valuesConfig: {
    SECRET_MANAGER: { description: 'Secrets in environments and folders.' },
    CERT_MANAGER: { description: 'Certificates, and alerts about them.' },
    KMS: { description: 'Encryption keys.' },
    SSH: { description: 'SSH certificates.' },
    SECRET_SCANNING: { description: 'Leaked secrets in source code.' },
    PAM: { description: 'Privileged access to infrastructure.' },
    AI: { description: 'Access of AI agents.' },
  },
});

enumOfRule(projectKind, ProjectKindEnum);

/** GraphQL names of the states of an upgrade. */
export const UpgradeStatusEnum = { IN_PROGRESS: 'IN_PROGRESS', FAILED: 'FAILED' } as const;
export type UpgradeStatus = keyof typeof UpgradeStatusEnum;
registerEnumType(UpgradeStatusEnum, {
  name: 'ProjectUpgradeStatus',
  description: 'State of the upgrade of a project.',
  valuesConfig: {
    IN_PROGRESS: { description: 'The upgrade is running.' },
    FAILED: { description: 'The upgrade has failed.' },
  },
});

/** API type of a project. `access` is for field resolvers and is not itself a field. */
@ObjectType('Project', {
  implements: Node,
  description: 'A project: a container of environments, secrets, certificates, members and roles.',
  simpleResolvers: true,
})
export class ProjectType {
  readonly access!: ProjectAccess;

  @Field(() => ID, { description: 'ID of the project.' })
  id!: string;

  @Field(() => String, { description: 'Name of the project, for example `Web shop`.' })
  name!: string;

  @Field(() => ProjectKindEnum, { description: 'Purpose of the project.' })
  type!: ProjectKind;

  @Field(() => String, { description: 'Slug of the project, unique in the organization, for example `web-shop`.' })
  slug!: string;

  @Field(() => ID, { description: 'ID of the organization.' })
  organizationId!: string;

  @Field(() => DateTime, { description: 'When the project was created.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When the project was last changed.' })
  updatedAt!: Date;

  /** All of them: the API field may return some of them. */
  environments!: EnvironmentType[];

  @Field(() => String, { nullable: true, description: 'Description of the project.' })
  description!: string | null;

  @Field(() => ProjectKindEnum, {
    nullable: true,
    description: 'Purpose of the project. Older name of `type`.',
    deprecationReason: 'Use `type`.',
  })
  defaultProduct!: ProjectKind | null;

  @Field(() => Boolean, { nullable: true, description: UPPER_CASE_KEYS })
  autoCapitalization!: boolean | null;

  @Field(() => Int, { description: 'Version of the storage format of the project.' })
  version!: number;

  @Field(() => UpgradeStatusEnum, {
    nullable: true,
    description: 'State of an upgrade of the project. Always null: upgrades run when the service starts.',
  })
  upgradeStatus!: UpgradeStatus | null;

  @Field(() => Int, { description: KEPT_VERSIONS })
  pitVersionLimit!: number;

  @Field(() => ID, { nullable: true, description: 'ID of the key for certificates; null until the project has any.' })
  kmsCertificateKeyId!: string | null;

  @Field(() => Int, {
    nullable: true,
    description: 'Number of days that audit records are kept; null for the default.',
  })
  auditLogsRetentionDays!: number | null;

  @Field(() => Boolean, { nullable: true, description: 'Whether the project is protected against deletion.' })
  hasDeleteProtection!: boolean | null;

  @Field(() => Boolean, { description: SHARED_LINKS })
  secretSharing!: boolean;

  @Field(() => Boolean, { description: LEGACY_SNAPSHOTS })
  showSnapshotsLegacy!: boolean;

  @Field(() => [String], {
    nullable: true,
    description: 'Values that leak detection ignores. Null when there are none, or if you cannot read settings.',
  })
  secretDetectionIgnoreValues!: readonly string[] | null;

  @Field(() => Boolean, { nullable: true, description: ENCRYPTED_METADATA })
  enforceEncryptedSecretManagerSecretMetadata!: boolean | null;

  @Field(() => ID, { description: 'ID of the key of the organization that wraps the data key of the project.' })
  kmsSecretManagerKeyId!: string;
}

export const ProjectConnection = countedConnectionOf(ProjectType, 'Project', 'name, then ID');

export const toProjectType = ({ access, ...record }: ReadProject): ProjectType => ({
  ...record,
  access,
  enforceEncryptedSecretManagerSecretMetadata: access.enforceEncryptedSecretMetadata,
  environments: record.environments.map((environment) => toEnvironmentType(environment, access)),
});

/** Converts a list to its API type. */
export const toProjectConnection = ({ page, keyOf, totalCount }: ListedProjects): CountedConnectionOf<ProjectType> =>
  counted(page.map(toProjectType, keyOf), totalCount);

export const ProjectPageArgs = argsType(ProjectPage);
export type ProjectPageArgs = InstanceType<typeof ProjectPageArgs>;

export const UpdateProjectInput = inputType(
  'UpdateProjectInput',
  UpdateProject,
  'Input of `updateProject`. Absent fields keep their values.',
);
