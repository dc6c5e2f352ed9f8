import { organizationRights } from '../features/identity/permissions/public.js';
import { type Context, type Kernel, SYSTEM } from '../kernel/context.js';
import { newId } from '../kernel/ids.js';

/** The service acting by itself in an organization. */
export const systemContext = (kernel: Kernel, organizationId: string): Context => ({
  ...kernel,
  requestId: newId(),
  address: null,
  userAgent: null,
  actor: { ...SYSTEM, name: 'system', tokenId: null, isInstallationAdmin: false },
  organizationId,
  rootOrganizationId: organizationId,
  ability: organizationRights({ roles: [], storedRules: null }).ability,
  loaders: new Map(),
});
