import { randomBytes } from 'node:crypto';
import { addProjects } from '../../features/gateway/crowd.js';
import { type Caller, mustSucceed } from '../../kit/caller.ts';
import { Seed } from '../../kit/seed.ts';

/** Folders of the project that is measured, with this many secrets each. */
export const FOLDERS = { few: 100, many: 10_000 } as const;

/** Projects at the head of the list of projects: a page of a composed query. */
const PAGE_OF_PROJECTS = 20;
const SECRETS_OF_EACH = 100;

/** What a project of a service has in each folder. */
const IN_FOLDER = 20;
const NAMES =
  'DATABASE_URL DATABASE_PASSWORD API_KEY API_SECRET SMTP_PASSWORD SESSION_KEY REDIS_URL WEBHOOK_TOKEN'.split(' ');
const TAGS = 5;
const BATCH = 1_000;

/** What the requests are about. */
export interface Millions {
  readonly admin: Caller;
  /** A member of a single project. */
  readonly viewer: Caller;
  readonly projectId: string;
  readonly slug: string;
  readonly secretId: string;
}

type Wanted = Readonly<Record<string, unknown>>;

const value = (at: number): string => randomBytes(12 + (at % 5) * 12).toString('base64url');

async function write(admin: Caller, place: Wanted, secrets: readonly Wanted[], isNew = true): Promise<void> {
  for (let at = 0; at < secrets.length; at += BATCH) {
    const body = { ...place, secrets: secrets.slice(at, at + BATCH) };
    const path = '/api/v4/secrets/batch';
    mustSucceed(await (isNew ? admin.post(path, body) : admin.patch(path, body)));
  }
}

/** Makes the projects whose secrets are read, in the organization of this admin. */
export async function fillMeasured(admin: Caller): Promise<Millions> {
  const seed = new Seed(admin);
  for (const projectId of await addProjects(admin, PAGE_OF_PROJECTS)) {
    const secrets = Array.from({ length: SECRETS_OF_EACH }, (_, at) => ({
      secretKey: `K_${at}`,
      secretValue: value(at),
    }));
    await write(admin, { projectId, environment: 'dev' }, secrets);
  }
  const { id: projectId, slug } = await seed.projectOf(admin, { projectName: 'Measured' });
  const tagIds = await addTags(admin, projectId);
  for (const [name, count] of Object.entries(FOLDERS)) {
    const place = { projectId, environment: 'dev' };
    mustSucceed(await admin.post('/api/v2/folders', { ...place, path: '/', name }));
    const secrets = Array.from({ length: count }, (_, at) => ({
      secretKey: `KEY_${String(at).padStart(5, '0')}`,
      secretValue: at % 20 === 1 ? '${KEY_00000}' : value(at),
      ...(at % 4 === 0 ? { tagIds: [tagIds[at % TAGS]] } : {}),
    }));
    await write(admin, { ...place, secretPath: `/${name}` }, secrets);
  }
  const path = `/api/v4/secrets/KEY_00001?projectId=${projectId}&environment=dev&secretPath=/few`;
  const secretId = mustSucceed(await admin.get(path)).body.secret.id;
  return { admin, viewer: await seed.caller(admin, { project: projectId }), projectId, slug, secretId };
}

async function addTags(admin: Caller, projectId: string): Promise<string[]> {
  const ids: string[] = [];
  for (let at = 0; at < TAGS; at += 1) {
    const body = { slug: `tag-${at}`, color: '#ff8800' };
    ids.push(mustSucceed(await admin.post(`/api/v1/projects/${projectId}/tags`, body)).body.tag.id);
  }
  return ids;
}

/**
 * Makes the project that is copied: folders of twenty secrets in three environments, every fourth with a tag, every twentieth with
 * a reference, every second written twice.
 */
export async function fillTemplate(admin: Caller, count: number): Promise<string> {
  const { id: projectId, environments } = await new Seed(admin).projectOf(admin, { projectName: 'Service 000000' });
  const tagIds = await addTags(admin, projectId);
  for (let made = 0, folder = 0; made < count; made += IN_FOLDER, folder += 1) {
    const { slug: environment } = environments[folder % environments.length] as { slug: string };
    const [path, name] = [`/part-${Math.floor(folder / 15)}`, `service-${Math.floor(folder / 3)}`];
    const place = { projectId, environment };
    mustSucceed(await admin.post('/api/v2/folders', { ...place, path, name }));
    const secrets = Array.from({ length: Math.min(IN_FOLDER, count - made) }, (_, at) => ({
      secretKey: NAMES[at] ?? `SETTING_${folder}_${at}`,
      secretValue: at === IN_FOLDER - 1 ? 'postgres://${DATABASE_URL}' : value(at),
      ...(at % 4 === 0 ? { tagIds: [tagIds[at % TAGS]] } : {}),
    }));
    await write(admin, { ...place, secretPath: `${path}/${name}` }, secrets);
    const again = secrets
      .filter((_, at) => at % 2 === 0)
      .map(({ secretKey }, at) => ({ secretKey, secretValue: value(at) }));
    await write(admin, { ...place, secretPath: `${path}/${name}` }, again, false);
  }
  return projectId;
}
