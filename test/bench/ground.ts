import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { Caller, mustSucceed } from '../kit/caller.ts';
import { embeddedUrl } from '../kit/processes.ts';
import { Seed } from '../kit/seed.ts';
import { Service } from '../kit/service.ts';
import { type AccessGround, fillAccess } from './access.ts';
import { fillLarge } from './large.ts';
import { fillProjects, type OwnProject } from './mixes.ts';

/** What the loads run on: a service on an embedded database of its own, with something in it. */
export interface Ground {
  readonly service: Service;
  /** Another node of the same installation, which keeps no replies. */
  readonly keepingNothing: Service;
  /** One that limits rates, to more than any load reaches. */
  readonly limiting: Service;
  readonly admin: Caller;
  readonly projectId: string;
  readonly identityIds: readonly string[];
  /** Of a login of the first one. */
  readonly login: { readonly clientId: string; readonly clientSecret: string };
  /** Of a login of each of them with a token of its platform. */
  readonly platformToken: string;
  /** Projects with a client each. Empty where no load wants them. */
  readonly projects: readonly OwnProject[];
  /** A project of 10,000 secrets and of references without end. Empty where no load wants it. */
  readonly largeProjectId: string;
  /** An organization with very many members and rules. `null` where no load wants it. */
  readonly access: AccessGround | null;
}

const IDENTITIES = 20;
/** Folders with this many secrets each. */
const LISTS = [10, 100, 1_000] as const;
const KIBIBYTE = 1_024;
const PROJECTS = 20;

interface Wish {
  /** Where V8 is to leave a CPU profile when the service stops. */
  readonly profileDir: string | undefined;
  readonly isLarge: boolean;
  readonly isCrowded: boolean;
  readonly isUnlike: boolean;
}

/** Starts the built service and fills it. */
export async function withGround<T>(
  { profileDir, isLarge, isCrowded, isUnlike }: Wish,
  work: (ground: Ground) => Promise<T>,
): Promise<T> {
  const dataDir = await mkdtemp(join(tmpdir(), 'strongroom-bench-'));
  // With the allocator as `npm start` sets it.
  const env: Record<string, string> = { RATE_LIMIT: 'off', MALLOC_ARENA_MAX: process.env.MALLOC_ARENA_MAX ?? '1' };
  if (profileDir !== undefined) env.NODE_OPTIONS = `--cpu-prof --cpu-prof-dir=${profileDir}`;
  const service = await Service.start({ dataDir, env });
  const others: Service[] = [];
  try {
    const token = (await readFile(join(dataDir, 'bootstrap-token'), 'utf8')).trim();
    const admin = new Caller(service.url, token);
    const filled = {
      ...(await fill(admin)),
      projects: isUnlike ? await fillProjects(admin) : [],
      largeProjectId: isLarge ? await fillLarge(admin) : '',
      access: isCrowded ? await fillAccess(admin, await embeddedUrl(dataDir)) : null,
    };
    const sameInstallation = {
      DATABASE_URL: await embeddedUrl(dataDir),
      ROOT_KEY: `file:${join(dataDir, 'root-key')}`,
    };
    const further = async (settings: Record<string, string>): Promise<Service> => {
      const other = await Service.start({ env: { ...env, ...sameInstallation, ...settings } });
      others.push(other);
      return other;
    };
    const keepingNothing = await further({ REPLY_CACHE_MIB: '0' });
    const limiting = await further({ RATE_LIMIT: 'on', RATE_LIMITS: 'reads=1000000000' });
    const answer = await work({ service, keepingNothing, limiting, admin, ...filled });
    for (const other of others) await other.stop();
    await service.stop();
    return answer;
  } finally {
    for (const other of others) await other.kill();
    await service.kill();
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function fill(admin: Caller): Promise<Pick<Ground, 'projectId' | 'identityIds' | 'login' | 'platformToken'>> {
  const seed = new Seed(admin);
  const project = await seed.projectOf(admin);
  for (let made = 1; made < PROJECTS; made += 1) await seed.projectOf(admin);
  for (const count of LISTS) await fillFolder(seed, admin, project.id, count);
  await fillFolder(seed, admin, project.id, 1_000, 'of-kibibytes', 'x'.repeat(KIBIBYTE));
  mustSucceed(await admin.post('/api/v2/folders', { projectId: project.id, environment: 'dev', name: 'new' }));
  const identityIds: string[] = [];
  while (identityIds.length < IDENTITIES) identityIds.push((await seed.caller(admin)).identityId);
  const [identityId] = identityIds;
  const method = `/api/v1/auth/universal-auth/identities/${identityId}`;
  const { clientId } = mustSucceed(await admin.post(method, {})).body.identityUniversalAuth;
  const { clientSecret } = mustSucceed(await admin.post(`${method}/client-secrets`, {})).body;
  const platformToken = await trustIssuer(admin, identityIds);
  return { projectId: project.id, identityIds, login: { clientId, clientSecret }, platformToken };
}

/** Identities trust an issuer, whose keys they are given, as GitHub signs its tokens. @returns a token of that */
async function trustIssuer(admin: Caller, identityIds: readonly string[]): Promise<string> {
  const { privateKey, publicKey } = await generateKeyPair('RS256');
  const keys = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: 'one' }] });
  const bound = { keys, boundIssuer: 'https://issuer.example.com', boundSubject: 'repo:example/*:ref:refs/heads/main' };
  for (const id of identityIds) mustSucceed(await admin.post(`/api/v1/auth/oidc-auth/identities/${id}`, bound));
  return new SignJWT({ sub: 'repo:example/shop:ref:refs/heads/main', iss: bound.boundIssuer })
    .setProtectedHeader({ alg: 'RS256', kid: 'one' })
    .setExpirationTime('1 day')
    .sign(privateKey);
}

async function fillFolder(
  seed: Seed,
  admin: Caller,
  projectId: string,
  count: number,
  name = `of-${count}`,
  secretValue?: string,
): Promise<void> {
  mustSucceed(await admin.post('/api/v2/folders', { projectId, environment: 'dev', name }));
  const change = (secret: Record<string, unknown>) => (secretValue === undefined ? secret : { ...secret, secretValue });
  await seed.secrets(admin, { id: projectId }, 'dev', count, change, `/${name}`);
}
