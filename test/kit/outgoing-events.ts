import { randomUUID } from 'node:crypto';
import { type Caller, mustSucceed } from './caller.ts';
import { makeOrganizationKey, type OrganizationKeyWorld } from './organization-keys.ts';

/** What a world has of targets of events, and of keys of the organization. */
export interface OutgoingWorld extends OrganizationKeyWorld {
  /** A webhook of the project, which is disabled. */
  readonly changeWebhook: string;
}

/** Targets of events, and keys. @param isWanted whether a world needs them */
export async function makeOutgoing(
  admin: Caller,
  {
    canary,
    projectId,
    isWanted,
  }: {
    readonly canary: string;
    readonly projectId: string;
    isWanted(...things: (keyof OutgoingWorld)[]): boolean;
  },
): Promise<OutgoingWorld> {
  const key = await makeOrganizationKey(admin, { canary, isWanted });
  if (!isWanted('changeWebhook')) return { ...key, changeWebhook: '' };
  const body = { name: `${canary}-${randomUUID().slice(0, 8)}`, url: `https://example.com/${canary}`, enabled: false };
  const made = mustSucceed(await admin.post(`/api/v1/projects/${projectId}/change-webhooks`, body));
  return { ...key, changeWebhook: made.body.changeWebhook.id };
}
