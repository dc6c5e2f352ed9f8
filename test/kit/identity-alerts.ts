import { type Caller, mustSucceed } from './caller.js';

/** The alert of a world. */
export interface IdentityAlertWorld {
  /** An alert of the identity in the project, which is disabled. */
  readonly identityAlert: string;
}

interface Wanted {
  readonly canary: string;
  readonly isWanted: (thing: keyof IdentityAlertWorld) => boolean;
  readonly projectId: string;
  /** A member of that project. */
  readonly identityId: string;
}

/** Makes it, where it is wanted. */
export async function makeIdentityAlert(
  admin: Caller,
  { canary, isWanted, projectId, identityId: resourceId }: Wanted,
): Promise<IdentityAlertWorld> {
  if (!isWanted('identityAlert')) return { identityAlert: '' };
  const config = { url: `https://example.com/${canary}`, signingSecret: canary };
  const body = {
    name: canary,
    description: canary,
    resourceType: 'identity.authentication',
    resourceId,
    eventType: 'identity.authentication.expiry',
    condition: { alertBefore: '1d' },
    enabled: false,
    projectId,
    channels: [{ name: canary, channelType: 'webhook', config, enabled: false }],
  };
  return { identityAlert: mustSucceed(await admin.post('/api/v1/alerts', body)).body.alert.id };
}
