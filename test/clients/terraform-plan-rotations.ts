import type { Resource, State } from './terraform-plan.ts';

/** Connections and rotations. `datatool` in the state is the tool that they reach, with its credentials. */
export const outside: readonly Resource[] = [
  {
    name: 'connection',
    create: ({ project, datatool }) => [
      'POST',
      '/api/v1/app-connections/datatool',
      {
        ...{ App: 'datatool', name: 'reports', description: 'of the shop', method: 'api-token' },
        ...{ credentials: datatool.credentials, projectId: project.id, gatewayId: null },
      },
    ],
    under: 'appConnection',
    read: ({ connection }) => [['GET', `/api/v1/app-connections/datatool/${connection.id}`]],
    reads: ({ connection: { id, credentialsHash }, project, organization }) => [
      {
        appConnection: {
          ...{ id, name: 'reports', description: 'of the shop', method: 'api-token', app: 'datatool' },
          ...{ orgId: organization.id, projectId: project.id, credentialsHash, gatewayId: null, version: 1 },
        },
      },
    ],
    update: ({ connection, project }) => [
      'PATCH',
      `/api/v1/app-connections/datatool/${connection.id}`,
      {
        ...{ ID: connection.id, App: 'datatool', name: 'reports', description: '', method: 'api-token' },
        ...{ projectId: project.id, gatewayId: null },
      },
    ],
    readsThen: ({ connection: { id, credentialsHash } }) => [
      { appConnection: { id, name: 'reports', credentialsHash, version: 2 } },
    ],
    remove: ({ connection }) => ['DELETE', `/api/v1/app-connections/datatool/${connection.id}`],
  },
  {
    name: 'rotation',
    create: (at) => [
      'POST',
      ROTATIONS,
      { Provider: 'datatool-service-token', projectId: at.project.id, ...rotation(at) },
    ],
    under: 'secretRotation',
    read: ({ rotation: { id } }) => [['GET', `${ROTATIONS}/${id}`]],
    reads: ({ rotation: { id }, connection, project }) => [
      {
        secretRotation: {
          ...{ id, name: 'reporting', description: 'of the shop', isAutoRotationEnabled: false, projectId: project.id },
          ...{ connection: { id: connection.id }, environment: { slug: 'dev' }, folder: { path: '/' } },
          ...{ rotationInterval: 30, rotateAtUtc: { hours: 0, minutes: 0 }, secretsMapping: { serviceToken: 'TOKEN' } },
          parameters: { tokenName: 'reporting', permissionGrants: [{ permissionSet: 'job_viewer' }] },
        },
      },
    ],
    // What is false is left out of a change.
    update: (at) => {
      const { isAutoRotationEnabled: _, ...kept } = rotation(at);
      const changes = { description: '', rotationInterval: 14, rotateAtUtc: { hours: 2, minutes: 30 } };
      const { id } = at.rotation;
      return ['PATCH', `${ROTATIONS}/${id}`, { Provider: 'datatool-service-token', ID: id, ...kept, ...changes }];
    },
    readsThen: ({ rotation: { id } }) => [
      {
        secretRotation: {
          ...{ id, isAutoRotationEnabled: false, rotationInterval: 14, rotateAtUtc: { hours: 2, minutes: 30 } },
        },
      },
    ],
    remove: ({ rotation: { id } }) => ['DELETE', `${ROTATIONS}/${id}`, { Provider: 'datatool-service-token', ID: id }],
  },
];

const ROTATIONS = '/api/v2/secret-rotations/datatool-service-token';

const rotation = ({ connection }: State) => ({
  ...{ name: 'reporting', description: 'of the shop', isAutoRotationEnabled: false, connectionId: connection.id },
  ...{ environment: 'dev', secretPath: '/', rotationInterval: 30, rotateAtUtc: { hours: 0, minutes: 0 } },
  parameters: { tokenName: 'reporting', permissionGrants: [{ permissionSet: 'job_viewer' }] },
  secretsMapping: { serviceToken: 'TOKEN' },
});
