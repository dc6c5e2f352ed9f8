import type { ProjectKind } from '../../projects/public.js';
import type { TemplateRow } from './template.queries.js';
import type {
  ShownGroup,
  ShownIdentity,
  ShownUser,
  TemplateContent,
  TemplateEnvironment,
  TemplateOwnIdentity,
  TemplateRole,
} from './template.rules.js';

/** The content of a template, without members who have left the organization. */
export interface ShownContent {
  readonly name: string;
  readonly description: string;
  readonly roles: readonly TemplateRole[];
  readonly environments: readonly TemplateEnvironment[] | null;
  readonly users: readonly ShownUser[] | null;
  readonly groups: readonly ShownGroup[] | null;
  readonly identities: readonly ShownIdentity[] | null;
  readonly projectManagedIdentities: readonly TemplateOwnIdentity[] | null;
}

/** A template as services return it. */
export interface TemplateView extends ShownContent {
  readonly id: string;
  readonly organizationId: string;
  readonly isBuiltIn: boolean;
  readonly type: ProjectKind;
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export const toTemplateView = (row: TemplateRow): TemplateView => ({
  ...row,
  isBuiltIn: false,
  type: row.type as ProjectKind,
  ...shownLists(row),
});

/** Machine identities created in projects; null instead of an empty list, which clients expect. */
export const shownLists = ({ projectManagedIdentities }: Pick<TemplateRow, 'projectManagedIdentities'>) => ({
  projectManagedIdentities: projectManagedIdentities.length === 0 ? null : projectManagedIdentities,
});

/** Converts shown content to its stored form. Members who have left the organization are dropped. */
export const toContent = (shown: ShownContent): TemplateContent => ({
  name: shown.name,
  description: shown.description,
  roles: shown.roles,
  environments: shown.environments,
  users: (shown.users ?? []).map(({ userId, roles }) => ({ id: userId, roles })),
  groups: (shown.groups ?? []).map(({ groupId, roles }) => ({ id: groupId, roles })),
  identities: (shown.identities ?? []).map(({ identityId, roles }) => ({ id: identityId, roles })),
  projectManagedIdentities: shown.projectManagedIdentities ?? [],
});
