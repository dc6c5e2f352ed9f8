import type { ErrorCode } from '../../../src/kernel/errors.js';
import { mustSucceed } from '../../kit/caller.js';
import { again, type ErrorCase, type Scene, send } from './scene.js';

const KEYS = '/api/v1/organization/keys';
const DEFAULT = async ({ strongroom, world }: Scene) => {
  const [key] = await strongroom.sql<{ id: string }>(
    'select id from organization_key where organization_id = $1 and is_default',
    [world.organization],
  );
  return { organizationKey: String(key?.id) };
};

/** A new project with a new key, which is disabled then. @returns the scene with that project and a secret of it */
async function withDisabledKey(scene: Scene): Promise<Scene> {
  const { admin, world, strongroom } = scene;
  const { organizationKey } = mustSucceed(await admin.post(KEYS, { name: `off-${Date.now()}` })).body;
  const project = await strongroom.seed.projectOf(admin, { kmsKeyId: organizationKey.id });
  await strongroom.seed.secrets(admin, project, 'dev', 1);
  mustSucceed(await admin.post(`${KEYS}/${organizationKey.id}/disable`, {}));
  return { ...scene, world: { ...world, project: project.id, secretKey: 'KEY_00000' } };
}

/** Of organization keys. */
export const ORGANIZATION_KEYS: Partial<Record<ErrorCode, ErrorCase>> = {
  KEY_NAME_TAKEN: { rest: again(`POST ${KEYS}`), graphql: again('createOrganizationKey') },
  DEFAULT_KEY: {
    rest: async (scene) => {
      const instead = await DEFAULT(scene);
      return send(`POST ${KEYS}/{keyId}/disable`, () => instead)(scene);
    },
    graphql: async (scene) => {
      const instead = await DEFAULT(scene);
      return send('disableOrganizationKey', () => instead)(scene);
    },
  },
  KEY_DISABLED: {
    rest: async (scene) => {
      const { admin, world } = await withDisabledKey(scene);
      return admin.get(`/api/v4/secrets/${world.secretKey}?projectId=${world.project}&environment=dev`);
    },
    graphql: async (scene) => {
      const { admin, world } = await withDisabledKey(scene);
      return admin.graphql(
        'query ($projectId: ID!, $key: String!) { secretByKey(projectId: $projectId, environment: "dev", secretKey: $key) { secretValue } }',
        { projectId: world.project, key: world.secretKey },
      );
    },
  },
};
