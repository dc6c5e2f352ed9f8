import { randomUUID } from 'node:crypto';
import { type Caller, mustSucceed } from './caller.ts';
import { FakeDatatool } from './datatool.ts';
import type { Seed } from './seed.ts';

/** What a world has of connections, where the service may call servers of this machine. */
interface ConnectionWorld {
  /** A connection of the project, and what it is made of. */
  readonly connection: string;
  readonly connectionName: string;
  readonly datatoolUrl: string;
  readonly datatoolToken: string;
  /** A connection of the project to a host. Only a world that is seeded has one. */
  readonly smbConnection: string;
  readonly smbConnectionName: string;
}

/** What a world has of rotations, where the service may call servers of this machine. They are in the environment prod. */
interface RotationWorld {
  /** A rotation of tokens, its last attempt, which succeeded, and the connection that nothing else uses. */
  readonly rotation: string;
  readonly rotationName: string;
  readonly rotationAttempt: string;
  readonly rotationConnection: string;
  /** A rotation of an account, which has no credential yet. Only a world that is seeded has one. */
  readonly accountRotation: string;
  readonly accountRotationName: string;
  /** An attempt that waits, of another one, and that nobody carries out. Only a world that is seeded has one. */
  readonly waitingAttempt: string;
  /** A credential that is to be revoked, some day. Only a world that is seeded has one. */
  readonly credentialDebt: string;
}

/** Both. */
export interface ConnectedWorld extends ConnectionWorld, RotationWorld {}

const emptyOf = <Things extends object>(...things: (keyof Things)[]): Things =>
  Object.fromEntries(things.map((thing) => [thing, ''])) as Things;

/** Of a world that needs none, and of a service that may not call servers of this machine. */
const NO_CONNECTIONS = emptyOf<ConnectionWorld>(
  ...(['connection', 'connectionName', 'datatoolUrl', 'datatoolToken', 'smbConnection', 'smbConnectionName'] as const),
);
const NO_ROTATIONS = emptyOf<RotationWorld>(
  ...(['rotation', 'rotationName', 'rotationAttempt', 'rotationConnection'] as const),
  ...(['accountRotation', 'accountRotationName', 'waitingAttempt', 'credentialDebt'] as const),
);
const CONNECTION_THINGS = Object.keys(NO_CONNECTIONS) as (keyof ConnectionWorld)[];
const ROTATION_THINGS = Object.keys(NO_ROTATIONS) as (keyof RotationWorld)[];

const word = (prefix: string): string => `${prefix}-${randomUUID().slice(0, 8)}`;

/** One for all worlds of a file. */
let standIn: Promise<FakeDatatool> | undefined;

/**
 * Makes connections and a rotation in a project, as far as they are wanted.
 *
 * @param canary a word that stands in what is secret of them
 */
export async function makeConnected(
  admin: Caller,
  projectId: string,
  { canary, isWanted }: { readonly canary: string; isWanted(...things: (keyof ConnectedWorld)[]): boolean },
): Promise<ConnectedWorld> {
  return {
    ...(isWanted(...CONNECTION_THINGS) ? await makeConnection(admin, projectId, canary) : NO_CONNECTIONS),
    ...(isWanted(...ROTATION_THINGS) ? await makeRotation(admin, projectId, canary) : NO_ROTATIONS),
  };
}

async function makeConnection(admin: Caller, projectId: string, canary: string): Promise<ConnectionWorld> {
  standIn ??= FakeDatatool.start({ apiToken: `${canary}-${randomUUID()}` }).then((fake) => fake.unref());
  const { credentials } = await standIn;
  const name = word('connection');
  const body = { projectId, name, method: 'api-token', description: canary, credentials };
  const reply = await admin.post('/api/v1/app-connections/datatool', body);
  if (reply.status === 422 && reply.text.includes('https://')) return NO_CONNECTIONS;
  return {
    ...NO_CONNECTIONS,
    connection: mustSucceed(reply).body.appConnection.id,
    connectionName: name,
    datatoolUrl: credentials.instanceUrl,
    datatoolToken: credentials.apiToken,
  };
}

/** A rotation and its connection. */
async function makeRotation(admin: Caller, projectId: string, canary: string): Promise<RotationWorld> {
  const { connection: connectionId } = await makeConnection(admin, projectId, canary);
  if (connectionId === '') return NO_ROTATIONS;
  const name = word('rotation');
  const { secretRotation } = mustSucceed(
    await admin.post('/api/v2/secret-rotations/datatool-service-token', {
      ...{ projectId, connectionId, name, environment: 'prod', secretPath: '/', description: canary },
      ...{ rotationInterval: 30, rotateAtUtc: { hours: 2, minutes: 30 } },
      // Audit records name credentials that stay valid.
      parameters: { tokenName: 'analytics', permissionGrants: [{ permissionSet: 'job_viewer' }] },
      secretsMapping: { serviceToken: 'ROTATED_TOKEN' },
    }),
  ).body;
  return {
    ...NO_ROTATIONS,
    rotation: secretRotation.id,
    rotationName: name,
    rotationAttempt: secretRotation.lastRotationJobId,
    rotationConnection: connectionId,
  };
}

/** Connections to a host, and rotations by one of them, in the project of a world that has connections and rotations. */
export async function storedOfConnected(
  seed: Seed,
  { project, ...world }: ConnectedWorld & { readonly project: string },
): Promise<Partial<ConnectedWorld>> {
  return {
    ...(world.connection === '' ? {} : await smbConnection(seed, project)),
    ...(world.rotation === '' ? {} : await accountRotations(seed, project)),
  };
}

async function smbConnection(seed: Seed, project: string): Promise<Partial<ConnectionWorld>> {
  const smbConnectionName = word('smb');
  return { smbConnection: await seed.smbConnection(project, smbConnectionName), smbConnectionName };
}

async function accountRotations(seed: Seed, project: string): Promise<Partial<RotationWorld>> {
  const accountRotationName = word('account');
  const connectionId = await seed.smbConnection(project, word('smb'));
  const accountRotation = await seed.accountRotation(connectionId, accountRotationName);
  const waiting = await seed.accountRotation(connectionId, word('account'));
  const waitingAttempt = await seed.waitingAttempt(waiting);
  return {
    accountRotation,
    accountRotationName,
    waitingAttempt,
    credentialDebt: await seed.credentialDebt(connectionId),
  };
}
