import { randomUUID } from 'node:crypto';
import { type Caller, mustSucceed } from './caller.ts';
import type { Seed } from './seed.ts';

/** What a world has of keys. */
export interface OrganizationKeyWorld {
  /** A key of the organization beside its default key, which no project has. */
  readonly organizationKey: string;
  /** A paused re-encryption of the project. Only a world that is seeded has one. */
  readonly reencryption: string;
}

/** A key of an organization. @param isWanted whether a world needs it */
export async function makeOrganizationKey(
  admin: Caller,
  { canary, isWanted }: { readonly canary: string; isWanted(...things: (keyof OrganizationKeyWorld)[]): boolean },
): Promise<OrganizationKeyWorld> {
  const key = { name: `key-${randomUUID().slice(0, 8)}`, description: canary };
  return {
    organizationKey: isWanted('organizationKey')
      ? mustSucceed(await admin.post('/api/v1/organization/keys', key)).body.organizationKey.id
      : '',
    reencryption: isWanted('reencryption') ? TO_BE_STORED : '',
  };
}

const TO_BE_STORED = 'to be stored';

/** A re-encryption of the project of a world that wants one. @returns its id */
export const storedReencryption = async (
  seed: Seed,
  { project, reencryption }: Pick<OrganizationKeyWorld, 'reencryption'> & { readonly project: string },
): Promise<string> => (reencryption === TO_BE_STORED ? seed.reencryption(project) : '');
