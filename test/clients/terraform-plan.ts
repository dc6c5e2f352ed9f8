/** A request as the Terraform provider sends it. A request with a body has one also where the method is DELETE. */
export type Sent = readonly [method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: object];

/** What the replies to the creations held, by the name of the resource, and what is given from outside. */
// biome-ignore lint/suspicious/noExplicitAny: replies of many shapes
export type State = Record<string, any>;

/** One resource of a plan: the requests of its life, and what the provider compares with its configuration. */
export interface Resource {
  readonly name: string;
  readonly create: (at: State) => Sent;
  /** Where the reply to the creation has the resource. */
  readonly under?: string;
  readonly read: (at: State) => readonly Sent[];
  /** What the replies to the reads hold. */
  readonly reads: (at: State) => readonly object[];
  readonly update?: (at: State) => Sent;
  /** What they hold after the update, where it differs. */
  readonly readsThen?: (at: State) => readonly object[];
  /** Absent for what ends with another resource. */
  readonly remove?: (at: State) => Sent;
  /** What the first read replies after that. Absent: 404, which drops the resource from the state of the client. */
  readonly readsAfter?: object;
}

/** The provider writes the current time where its configuration has no time, in nanoseconds. */
const NOW = '2026-11-26T03:40:02.699376515Z';
const PERMANENT = { isTemporary: false, temporaryMode: '', temporaryRange: '', temporaryAccessStartTime: NOW };
const STARTS = '2026-11-20T12:43:13Z';
const FOR_A_MONTH = {
  isTemporary: true,
  temporaryMode: 'relative',
  temporaryRange: '30d',
  temporaryAccessStartTime: STARTS,
};
/** The same as the server tells it. */
const UNTIL = { ...FOR_A_MONTH, temporaryAccessStartTime: '2026-11-20T12:43:13.000Z' };

/** Rules as the provider sends them: the keys of `conditions` are those of JSON in the configuration. */
const IN_DEV = {
  subject: 'secrets',
  action: ['describeSecret', 'readValue', 'edit'],
  inverted: false,
  conditions: { environment: { $eq: 'dev' }, secretPath: { $glob: '/**' } },
};
const NO_FOLDERS = { subject: 'secret-folders', action: ['edit'], inverted: true };

const ANY_IP = [{ ipAddress: '0.0.0.0/0' }, { ipAddress: '::/0' }];

const inProject: readonly Resource[] = [
  {
    name: 'project',
    create: () => [
      'POST',
      '/api/v2/workspace',
      {
        projectName: 'Shop',
        projectDescription: 'of the town',
        slug: 'the-shop',
        organizationSlug: '',
        type: 'secret-manager',
        shouldCreateDefaultEnvs: true,
        hasDeleteProtection: false,
      },
    ],
    under: 'project',
    read: ({ project }) => [
      ['GET', `/api/v2/workspace/${project.slug}`],
      ['GET', `/api/v1/workspace/${project.id}`],
    ],
    reads: ({ project: { id }, organization }) => [
      {
        id,
        name: 'Shop',
        slug: 'the-shop',
        description: 'of the town',
        type: 'secret-manager',
        orgId: organization.id,
      },
      {
        workspace: {
          ...{ id, name: 'Shop', slug: 'the-shop', description: 'of the town', type: 'secret-manager' },
          hasDeleteProtection: false,
        },
      },
    ],
    update: ({ project }) => [
      'PATCH',
      `/api/v1/projects/${project.id}`,
      {
        projectId: project.id,
        slug: 'the-shop',
        name: 'Store',
        description: 'of the city',
        hasDeleteProtection: false,
      },
    ],
    readsThen: ({ project: { id } }) => [
      { id, name: 'Store', description: 'of the city' },
      { workspace: { id, name: 'Store', description: 'of the city' } },
    ],
    remove: ({ project }) => ['DELETE', `/api/v2/workspace/${project.slug}`],
  },
  {
    name: 'environment',
    create: ({ project }) => [
      'POST',
      `/api/v1/workspace/${project.id}/environments`,
      { name: 'Preview', slug: 'preview', workspaceId: project.id, position: 4 },
    ],
    under: 'environment',
    read: ({ environment, project }) => [
      ['GET', `/api/v1/workspace/environments/${environment.id}`],
      ['GET', `/api/v1/projects/${project.id}/environments/slug/preview`],
    ],
    reads: ({ environment: { id }, project }) => {
      const environment = { id, name: 'Preview', slug: 'preview', position: 4, projectId: project.id };
      return [{ environment }, environment];
    },
    update: ({ environment, project }) => [
      'PATCH',
      `/api/v1/workspace/${project.id}/environments/${environment.id}`,
      { ID: environment.id, ProjectID: project.id, name: 'Previews', slug: 'preview', position: 4 },
    ],
    readsThen: ({ environment: { id } }) => [
      { environment: { id, name: 'Previews', position: 4 } },
      { id, name: 'Previews' },
    ],
    remove: ({ environment, project }) => [
      'DELETE',
      `/api/v1/workspace/${project.id}/environments/${environment.id}`,
      { id: environment.id, workspaceId: project.id },
    ],
  },
  {
    name: 'folder',
    create: ({ project }) => [
      'POST',
      '/api/v1/folders',
      { name: 'app', environment: 'dev', workspaceId: project.id, path: '/', description: 'of the shop' },
    ],
    under: 'folder',
    read: ({ folder, project }) => [
      ['GET', `/api/v1/folders/${folder.id}`],
      ['GET', `/api/v1/folders?environment=dev&path=%2F&workspaceId=${project.id}`],
    ],
    reads: ({ folder: { id }, project }) => [
      {
        folder: {
          ...{ id, name: 'app', path: '/app', projectId: project.id, description: 'of the shop' },
          environment: { envSlug: 'dev' },
        },
      },
      { folders: [{ id, name: 'app' }] },
    ],
    update: ({ folder, project }) => [
      'PATCH',
      `/api/v1/folders/${folder.id}`,
      { id: folder.id, name: 'apps', environment: 'dev', workspaceId: project.id, path: '/', description: '' },
    ],
    readsThen: ({ folder: { id } }) => [{ folder: { id, name: 'apps' } }, { folders: [{ id, name: 'apps' }] }],
    remove: ({ folder, project }) => [
      'DELETE',
      `/api/v2/folders/${folder.id}`,
      { id: folder.id, environment: 'dev', projectId: project.id, path: '/', forceDelete: true },
    ],
  },
  {
    name: 'tag',
    create: ({ project }) => [
      'POST',
      `/api/v1/workspace/${project.id}/tags`,
      { name: 'db', color: '#FF0000', slug: 'db', projectId: project.id },
    ],
    under: 'workspaceTag',
    read: ({ tag, project }) => [
      ['GET', `/api/v1/workspace/${project.id}/tags/${tag.id}`],
      ['GET', `/api/v1/workspace/${project.id}/tags/slug/${tag.slug}`],
      ['GET', `/api/v1/workspace/${project.id}/tags`],
    ],
    reads: ({ tag: { id }, project }) => {
      const tag = { id, name: 'db', slug: 'db', color: '#FF0000', projectId: project.id };
      return [{ workspaceTag: tag }, { workspaceTag: tag }, { workspaceTags: [tag] }];
    },
    update: ({ tag, project }) => [
      'PATCH',
      `/api/v1/workspace/${project.id}/tags/${tag.id}`,
      { name: 'db', color: '#00FF00', slug: 'db', projectId: project.id, tagId: tag.id },
    ],
    readsThen: ({ tag: { id } }) => [
      { workspaceTag: { id, color: '#00FF00' } },
      { workspaceTag: { id, color: '#00FF00' } },
      { workspaceTags: [{ id, color: '#00FF00' }] },
    ],
    remove: ({ tag, project }) => [
      'DELETE',
      `/api/v1/workspace/${project.id}/tags/${tag.id}`,
      { projectId: project.id, tagId: tag.id },
    ],
  },
  {
    name: 'secret',
    create: ({ project, tag }) => [
      'POST',
      '/api/v3/secrets/raw/DB_PASSWORD',
      {
        ...{ workspaceId: project.id, type: 'shared', environment: 'dev', secretPath: '/' },
        ...{ secretKey: 'DB_PASSWORD', secretValue: 'correct horse', secretComment: '' },
        ...{ secretReminderNote: '', secretReminderRepeatDays: 0, tagIds: [tag.id] },
      },
    ],
    under: 'secret',
    read: ({ secret, project }) => [
      ['GET', `/api/v3/secrets/raw/id/${secret.id}`],
      ['GET', secretOf(project, '&viewSecretValue=false')],
      ['GET', secretOf(project, '&viewSecretValue=true')],
    ],
    reads: ({ secret: { id }, tag, project }) => {
      const secret = {
        ...{ id, workspace: project.id, environment: 'dev', secretPath: '/', secretKey: 'DB_PASSWORD', type: 'shared' },
        secretReminderRepeatDays: null,
        tags: [{ id: tag.id, slug: 'db' }],
      };
      return [
        { secret: { ...secret, secretValue: 'correct horse' } },
        { secret: { ...secret, secretValueHidden: true } },
        { secret: { ...secret, secretValue: 'correct horse' } },
      ];
    },
    update: ({ project, tag }) => [
      'PATCH',
      '/api/v3/secrets/raw/DB_PASSWORD',
      {
        ...{ secretName: 'DB_PASSWORD', workspaceId: project.id, environment: 'dev', type: 'shared', secretPath: '/' },
        ...{ secretReminderNote: 'Rotate it', secretReminderRepeatDays: 30 },
        ...{ secretValue: 'battery staple', tagIds: [tag.id] },
      },
    ],
    readsThen: ({ secret: { id } }) => {
      const reminded = { id, secretReminderNote: 'Rotate it', secretReminderRepeatDays: 30 };
      return [
        { secret: { ...reminded, secretValue: 'battery staple' } },
        { secret: reminded },
        { secret: { ...reminded, secretValue: 'battery staple' } },
      ];
    },
    remove: ({ project }) => [
      'DELETE',
      '/api/v3/secrets/raw/DB_PASSWORD',
      { secretName: 'DB_PASSWORD', workspaceId: project.id, environment: 'dev', type: 'shared', secretPath: '/' },
    ],
  },
  {
    name: 'secretImport',
    create: ({ project }) => [
      'POST',
      '/api/v1/secret-imports',
      {
        ...{ workspaceId: project.id, environment: 'dev', path: '/', isReplication: false },
        import: { environment: 'staging', path: '/' },
      },
    ],
    under: 'secretImport',
    read: ({ project, secretImport }) => [
      ['GET', `/api/v1/secret-imports/${secretImport.id}`],
      ['GET', `/api/v1/secret-imports?environment=dev&path=%2F&workspaceId=${project.id}`],
    ],
    reads: ({ secretImport: { id }, project }) => [
      {
        secretImport: {
          ...{ id, importPath: '/', secretPath: '/', projectId: project.id, isReplication: false },
          ...{ importEnv: { slug: 'staging' }, environment: { slug: 'dev' } },
        },
      },
      { secretImports: [{ id, importPath: '/' }] },
    ],
    update: ({ project, secretImport }) => [
      'PATCH',
      `/api/v1/secret-imports/${secretImport.id}`,
      {
        ...{ id: secretImport.id, workspaceId: project.id, environment: 'dev', path: '/', isReplication: false },
        import: { environment: 'prod', path: '/' },
      },
    ],
    readsThen: ({ secretImport: { id } }) => [
      { secretImport: { id, importEnv: { slug: 'prod' } } },
      { secretImports: [{ id }] },
    ],
    remove: ({ project, secretImport }) => [
      'DELETE',
      `/api/v1/secret-imports/${secretImport.id}`,
      { id: secretImport.id, environment: 'dev', workspaceId: project.id, path: '/' },
    ],
  },
  {
    name: 'role',
    create: ({ project }) => [
      'POST',
      `/api/v2/workspace/${project.id}/roles`,
      { ProjectId: project.id, slug: 'tester', name: 'Tester', description: '', permissions: [IN_DEV, NO_FOLDERS] },
    ],
    under: 'role',
    read: ({ project }) => [
      ['GET', `/api/v2/workspace/${project.id}/roles/slug/tester`],
      ['GET', `/api/v1/workspace/${project.slug}/roles/slug/tester`],
    ],
    reads: ({ role: { id }, project }) => [
      {
        role: {
          ...{ id, slug: 'tester', name: 'Tester', description: '', projectId: project.id },
          permissions: [IN_DEV, NO_FOLDERS],
        },
      },
      { role: { id, slug: 'tester' } },
    ],
    update: ({ role, project }) => [
      'PATCH',
      `/api/v2/workspace/${project.id}/roles/${role.id}`,
      {
        ...{ ProjectId: project.id, RoleId: role.id, slug: 'tester', name: 'Testers', description: 'of dev' },
        permissions: [IN_DEV],
      },
    ],
    readsThen: ({ role: { id } }) => [
      { role: { id, name: 'Testers', description: 'of dev', permissions: [IN_DEV] } },
      { role: { id } },
    ],
    remove: ({ role, project }) => ['DELETE', `/api/v2/workspace/${project.id}/roles/${role.id}`],
  },
  {
    name: 'olderRole',
    create: ({ project }) => [
      'POST',
      `/api/v1/workspace/${project.slug}/roles`,
      {
        ...{ projectSlug: project.slug, slug: 'older', name: 'Older', description: '' },
        permissions: [
          {
            ...{ action: 'read', subject: 'secrets' },
            conditions: { environment: 'dev', secretPath: { $glob: '/app' } },
          },
          { action: 'read', subject: 'environments' },
        ],
      },
    ],
    under: 'role',
    read: ({ project }) => [['GET', `/api/v1/workspace/${project.slug}/roles/slug/older`]],
    reads: ({ olderRole: { id } }) => [{ role: { id, slug: 'older', name: 'Older', description: '' } }],
    update: ({ olderRole, project }) => [
      'PATCH',
      `/api/v1/workspace/${project.slug}/roles/${olderRole.id}`,
      {
        ...{ projectSlug: project.slug, roleId: olderRole.id, slug: 'older', name: 'Oldest', description: '' },
        permissions: [{ action: 'read', subject: 'environments' }],
      },
    ],
    readsThen: ({ olderRole: { id } }) => [{ role: { id, name: 'Oldest' } }],
    remove: ({ olderRole, project }) => [
      'DELETE',
      `/api/v1/workspace/${project.slug}/roles/${olderRole.id}`,
      { projectSlug: project.slug, roleId: olderRole.id },
    ],
  },
];

const secretOf = (project: { id: string }, more: string): string =>
  `/api/v3/secrets/raw/DB_PASSWORD?environment=dev&secretPath=%2F&type=shared&workspaceId=${project.id}${more}`;

export { ANY_IP, FOR_A_MONTH, IN_DEV, inProject, NO_FOLDERS, NOW, PERMANENT, UNTIL };
