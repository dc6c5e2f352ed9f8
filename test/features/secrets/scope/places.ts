import { type Caller, mustSucceed } from '../../../kit/caller.js';

/** A secret, where it is and what it carries. Its value says all of that. */
export interface Place {
  readonly environment: string;
  readonly path: string;
  readonly key: string;
  readonly tags: readonly string[];
}

/** Secrets for rules to look at, in the order of a recursive list. */
export const PLACES: readonly Place[] = ['dev', 'prod'].flatMap((environment) => [
  { environment, path: '/', key: 'API_KEY', tags: ['cold'] },
  { environment, path: '/', key: 'DB_PASS', tags: ['hot'] },
  { environment, path: '/', key: 'DB_URL', tags: [] },
  { environment, path: '/app', key: 'DB_URL', tags: [] },
  { environment, path: '/app/eu', key: 'KEY', tags: ['cold', 'hot'] },
]);

/** Makes them, with their folders and tags. Answers the ids of the tags by slug. */
export async function seedPlaces(
  admin: Caller,
  projectId: string,
  places: readonly Place[] = PLACES,
): Promise<Readonly<Record<string, string>>> {
  const tags: Record<string, string> = {};
  for (const slug of new Set(places.flatMap((place) => place.tags))) {
    const { tag } = mustSucceed(await admin.post(`/api/v1/projects/${projectId}/tags`, { slug, color: 'red' })).body;
    tags[slug] = tag.id;
  }
  for (const [at, list] of Map.groupBy(places, ({ environment, path }) => `${environment} ${path}`)) {
    const [environment = '', secretPath = ''] = at.split(' ');
    const [, parent, name] = /^(.*)\/([^/]+)$/.exec(secretPath) ?? [];
    if (name !== undefined) {
      mustSucceed(await admin.post('/api/v2/folders', { projectId, environment, path: parent || '/', name }));
    }
    const secrets = list.map((place) => ({
      secretKey: place.key,
      secretValue: `${at} ${place.key}`,
      tagIds: place.tags.map((slug) => tags[slug]),
    }));
    mustSucceed(await admin.post('/api/v4/secrets/batch', { projectId, environment, secretPath, secrets }));
  }
  return tags;
}
