import { CANARY } from '../../world.js';
import { powerless, type RestOperation, viewer } from '../operation.js';

const READ = powerless('secret-rotation:read');
const CREATE = viewer('secret-rotation:create');
const EDIT = viewer('secret-rotation:edit');
const ROTATE = viewer('secret-rotation:rotate-secrets');
const PUBLISHED = { alsoLeaves: ['secret:rotate', 'secret-rotation:publish'] } as const;

const ALL = '/api/v2/secret-rotations';
const query = { projectId: '$project' };
const common = {
  ...query,
  name: 'analytics',
  description: CANARY,
  environment: 'prod',
  secretPath: '/',
  rotationInterval: 30,
  rotateAtUtc: { hours: 2, minutes: 30 },
};

interface OfType {
  readonly type: string;
  readonly rotation: string;
  readonly name: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** Whether it has published to its secrets. */
  readonly hasSecrets: boolean;
  /** Of what reaches the external system. */
  readonly outside: Pick<RestOperation, 'needsHost'>;
}

const TOKENS: OfType = {
  type: 'datatool-service-token',
  rotation: '$rotation',
  name: '$rotationName',
  body: {
    ...common,
    connectionId: '$rotationConnection',
    parameters: { tokenName: CANARY, permissionGrants: [{ permissionSet: 'job_viewer' }] },
    secretsMapping: { serviceToken: 'NEW_TOKEN' },
  },
  hasSecrets: true,
  outside: {},
};
/** They can be made and rotated only where there is such a host. */
const ACCOUNTS: OfType = {
  type: 'hostos-local-account',
  rotation: '$accountRotation',
  name: '$accountRotationName',
  body: {
    ...common,
    connectionId: '$smbConnection',
    parameters: { username: 'backup', rotationMethod: 'login-as-target' },
    secretsMapping: { username: 'NEW_USER', password: 'NEW_PASSWORD' },
    temporaryParameters: { password: CANARY },
  },
  hasSecrets: false,
  outside: { needsHost: true },
};

const ofType = ({ type, rotation, name, body, hasSecrets, outside }: OfType): RestOperation[] => {
  const at = `${ALL}/${type}`;
  const path = { rotationId: rotation };
  return [
    { route: `GET ${at}`, query, audit: 'secret-rotation:list', denial: READ },
    {
      route: `GET ${at}/rotation-name/{name}`,
      path: { name },
      query: { ...query, environment: 'prod' },
      audit: 'secret-rotation:get',
      denial: READ,
    },
    { route: `GET ${at}/{rotationId}`, path, audit: 'secret-rotation:get', denial: READ },
    {
      route: `GET ${at}/{rotationId}/generated-credentials`,
      path,
      audit: 'secret-rotation:read-generated-credentials',
      denial: viewer('secret-rotation:read-generated-credentials'),
    },
    { route: `POST ${at}`, body, audit: 'secret-rotation:create', denial: CREATE, ...PUBLISHED, ...outside },
    {
      route: `PATCH ${at}/{rotationId}`,
      path,
      body: { name: 'renamed', description: CANARY, rotationInterval: 14 },
      audit: 'secret-rotation:update',
      denial: EDIT,
    },
    {
      route: `POST ${at}/{rotationId}/move`,
      path,
      body: { destinationEnvironment: 'staging', destinationSecretPath: '/' },
      audit: 'secret-rotation:move',
      alsoLeaves: hasSecrets ? ['secret:move'] : [],
      denial: EDIT,
    },
    {
      route: `POST ${at}/{rotationId}/rotate-secrets`,
      path,
      audit: 'secret-rotation:begin',
      denial: ROTATE,
      ...PUBLISHED,
      ...outside,
    },
    {
      route: `POST ${at}/{rotationId}/check-credentials`,
      path,
      audit: 'secret-rotation:check',
      denial: ROTATE,
      ...outside,
    },
    {
      route: `DELETE ${at}/{rotationId}`,
      path,
      query: { deleteSecrets: 'true' },
      audit: 'secret-rotation:delete',
      alsoLeaves: hasSecrets ? ['secret:delete'] : [],
      denial: viewer('secret-rotation:delete'),
    },
  ];
};

/** Rotations of the environment prod. */
export const secretRotations: readonly RestOperation[] = [
  { route: `GET ${ALL}`, query, audit: 'secret-rotation:list', denial: READ },
  { route: `GET ${ALL}/options`, audit: 'secret-rotation:list-kinds', denial: null },
  ...ofType(TOKENS),
  ...ofType(ACCOUNTS),
  {
    route: `POST ${ALL}/hostos-local-account/{rotationId}/reconcile`,
    path: { rotationId: '$accountRotation' },
    audit: 'secret-rotation:begin',
    denial: ROTATE,
    needsHost: true,
  },
];
