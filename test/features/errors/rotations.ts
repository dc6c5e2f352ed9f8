import { randomUUID } from 'node:crypto';
import type { ErrorCode } from '../../../src/kernel/errors.js';
import { mustSucceed } from '../../kit/caller.js';
import { markRotated } from '../../kit/rotated.js';
import { AUDIT } from './audit.js';
import { ORGANIZATION_KEYS } from './organization-keys.js';
import { PASSWORD_RULES } from './password-rules.js';
import { PROJECT_REENCRYPTIONS } from './project-reencryptions.js';
import { type ErrorCase, mutate, type Scene } from './scene.js';

/** What rotations stand in the way of. */
export const ROTATION_CLASHES: Partial<Record<ErrorCode, ErrorCase>> = {
  ...PASSWORD_RULES,
  ...AUDIT,
  ...ORGANIZATION_KEYS,
  ...PROJECT_REENCRYPTIONS,
  ROTATED_SECRET: {
    rest: async (scene) => {
      const { secretKey } = await makeRotated(scene);
      return scene.admin.delete(`/api/v4/secrets/${secretKey}`, dev(scene.world.project));
    },
    graphql: async (scene) => mutate(scene.admin, 'deleteSecret', { id: (await makeRotated(scene)).id }),
  },
};

async function makeRotated({ strongroom, admin, world }: Scene): Promise<{ id: string; secretKey: string }> {
  const path = `/api/v4/secrets/ROTATED_${randomUUID().slice(0, 8)}`;
  const { secret } = mustSucceed(await admin.post(path, { ...dev(world.project), secretValue: 'v' })).body;
  await markRotated(strongroom, secret.id);
  return secret;
}

const dev = (projectId: string) => ({ projectId, environment: 'dev' });
