import { randomUUID } from 'node:crypto';
import { type Caller, mustSucceed } from './caller.ts';

/** What a world has of organization keys. */
export interface OrganizationKeyWorld {
  /** A key of the organization beside its default key, which no project has. */
  readonly organizationKey: string;
}

/** A key of an organization. @param isWanted whether a world needs it */
export async function makeOrganizationKey(
  admin: Caller,
  { canary, isWanted }: { readonly canary: string; isWanted(...things: (keyof OrganizationKeyWorld)[]): boolean },
): Promise<OrganizationKeyWorld> {
  if (!isWanted('organizationKey')) return { organizationKey: '' };
  const body = { name: `key-${randomUUID().slice(0, 8)}`, description: canary };
  return { organizationKey: mustSucceed(await admin.post('/api/v1/organization/keys', body)).body.organizationKey.id };
}
