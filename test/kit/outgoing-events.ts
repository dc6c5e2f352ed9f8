import { randomUUID } from 'node:crypto';
import { type Caller, mustSucceed } from './caller.ts';
import { makeOrganizationKey, type OrganizationKeyWorld } from './organization-keys.ts';

/** What a world has of targets of events, and of keys of the organization. */
export interface OutgoingWorld extends OrganizationKeyWorld {
  /** A webhook of the project, which is disabled. */
  readonly changeWebhook: string;
  /** A sink of the organization, which is disabled. */
  readonly auditSink: string;
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
  const sink = {
    ...{ name: `${canary}-${randomUUID().slice(0, 8)}`, kind: 'webhook', url: `https://example.com/${canary}` },
    enabled: false,
  };
  const auditSink = isWanted('auditSink')
    ? mustSucceed(await admin.post('/api/v1/organization/audit-sinks', sink)).body.auditSink.id
    : '';
  if (!isWanted('changeWebhook')) return { ...key, auditSink, changeWebhook: '' };
  const body = { name: `${canary}-${randomUUID().slice(0, 8)}`, url: `https://example.com/${canary}`, enabled: false };
  const made = mustSucceed(await admin.post(`/api/v1/projects/${projectId}/change-webhooks`, body));
  return { ...key, auditSink, changeWebhook: made.body.changeWebhook.id };
}
