import { ID, Int } from 'type-graphql';
import { DateTime } from '../../kernel/graphql/date-time.js';
import { enumType } from '../../kernel/graphql/enums.js';
import { argsType, inputType } from '../../kernel/graphql/inputs.js';
import { hiddenField, objectType, orNull } from '../../kernel/graphql/object-types.js';
import '../../kernel/graphql/list-order.js';
import { Node } from '../../kernel/graphql/node.js';
import { connectionOf } from '../../kernel/graphql/page.js';
import { type CountedConnectionOf, counted } from '../../kernel/paging.js';
import {
  ENCRYPTED_METADATA,
  KEPT_VERSIONS,
  LEGACY_SNAPSHOTS,
  type ProjectKind,
  ProjectPage,
  projectKind,
  projectScope,
  SHARED_LINKS,
  UPPER_CASE_KEYS,
  UpdateProject,
} from './core/project.rules.js';
import { isAccessible, type ProjectAccess } from './core/project-access.js';
import { type EnvironmentType, toEnvironmentType } from './environments/environment.resolver.js';
import type { ListedProjects, ReadProject } from './project.service.js';

/** GraphQL names of the project types. */
export const ProjectKindEnum = enumType<ProjectKind>(
  'ProjectType',
  'Purpose of a project.',
  {
    'secret-manager': 'Secrets in environments and folders.',
    'cert-manager': 'Certificates, and alerts about them.',
    kms: 'Encryption keys.',
    ssh: 'SSH certificates.',
    'secret-scanning': 'Leaked secrets in source code.',
    pam: 'Privileged access to infrastructure.',
    ai: 'Access of AI agents.',
  },
  projectKind,
);

/** GraphQL names of what a list of projects is of. */
enumType(
  'ProjectScope',
  'Which projects a list has.',
  {
    accessible: 'The projects in which you have a role.',
    organization:
      'All projects of the organization, with their names and settings, but without access to what is in them. ' +
      'Requires the permission `LIST` on `WORKSPACE` in the organization.',
  },
  projectScope,
);

/** GraphQL names of the states of an upgrade. */
const UpgradeStatusEnum = enumType('ProjectUpgradeStatus', 'State of the upgrade of a project.', {
  IN_PROGRESS: 'The upgrade is running.',
  FAILED: 'The upgrade has failed.',
});

/** API type of a project. `access` is for field resolvers and is not itself a field. */
export const ProjectType = objectType(
  'Project',
  'A project: a container of environments, secrets, certificates, members and roles.',
  {
    access: hiddenField<ProjectAccess>(),
    id: [ID, 'ID of the project.'],
    name: [String, 'Name of the project, for example `Web shop`.'],
    type: [ProjectKindEnum, 'Purpose of the project.'],
    slug: [String, 'Slug of the project, unique in the organization, for example `web-shop`.'],
    organizationId: [ID, 'ID of the organization.'],
    createdAt: [DateTime, 'When the project was created.'],
    updatedAt: [DateTime, 'When the project was last changed.'],
    /** All of them: the API field may return some of them. */
    environments: hiddenField<EnvironmentType[]>(),
    description: [orNull(String), 'Description of the project. Null also if you have no access to it.'],
    viewerHasAccess: [
      Boolean,
      'Whether you have a role in the project. False only in a list of all projects of the organization.',
    ],
    defaultProduct: [orNull(ProjectKindEnum), 'Purpose of the project. Older name of `type`.', 'Use `type`.'],
    autoCapitalization: [orNull(Boolean), UPPER_CASE_KEYS],
    version: [Int, 'Version of the storage format of the project.'],
    upgradeStatus: [
      orNull(UpgradeStatusEnum),
      'State of an upgrade of the project. Always null: upgrades run when the service starts.',
    ],
    pitVersionLimit: [Int, KEPT_VERSIONS],
    kmsCertificateKeyId: [orNull(ID), 'ID of the key for certificates; null until the project has any.'],
    auditLogsRetentionDays: [orNull(Int), 'Number of days that audit records are kept; null for the default.'],
    hasDeleteProtection: [orNull(Boolean), 'Whether the project is protected against deletion.'],
    secretSharing: [Boolean, SHARED_LINKS],
    showSnapshotsLegacy: [Boolean, LEGACY_SNAPSHOTS],
    secretDetectionIgnoreValues: [
      orNull([String]),
      'Values that leak detection ignores. Null when there are none, or if you cannot read settings.',
    ],
    enforceEncryptedSecretManagerSecretMetadata: [orNull(Boolean), ENCRYPTED_METADATA],
    kmsSecretManagerKeyId: [ID, 'ID of the key of the organization that wraps the data key of the project.'],
  },
  { implements: Node },
);
export type ProjectType = InstanceType<typeof ProjectType>;

export const ProjectConnection = connectionOf(ProjectType, 'Project', 'name, then ID');

export const toProjectType = ({ access, ...record }: ReadProject): ProjectType => ({
  ...record,
  access,
  viewerHasAccess: isAccessible(access),
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
