import type { ErrorCode } from '../../../src/kernel/errors.js';
import { again, type ErrorCase, mutate, type Scene, send, unknown } from './scene.js';

const IMPORTS_PATH = '/api/v2/secret-imports';

/** Of imports that are not there. They leave a world as it is for others. */
export const IMPORTS: Partial<Record<ErrorCode, ErrorCase>> = {
  IMPORT_NOT_FOUND: unknown('import', `GET ${IMPORTS_PATH}/{secretImportId}`, 'secretImport'),
};

/** Of imports that clash with what is there. The root of dev imports that of staging. */
export const STOPPED_BY_IMPORTS: Partial<Record<ErrorCode, ErrorCase>> = {
  IMPORT_EXISTS: { rest: again(`POST ${IMPORTS_PATH}`), graphql: again('createSecretImport') },
  IMPORT_CYCLE: {
    rest: ({ admin, world }) =>
      admin.post(IMPORTS_PATH, { projectId: world.project, environment: 'staging', import: { environment: 'dev' } }),
    graphql: ({ admin, world }) =>
      mutate(admin, 'createSecretImport', {
        projectId: world.project,
        environment: 'staging',
        sourceEnvironment: 'dev',
      }),
  },
  FOLDER_IMPORTED: {
    rest: async (scene) => {
      await importIntoProd(scene, '/shop');
      return scene.admin.delete('/api/v2/folders/shop', { ...dev(scene), forceDelete: true });
    },
    graphql: async (scene) => {
      await importIntoProd(scene, '/shop');
      return mutate(scene.admin, 'deleteFolderByName', { ...dev(scene), name: 'shop' });
    },
  },
  ENVIRONMENT_IMPORTED: {
    rest: async (scene) => {
      await importIntoProd(scene, '/');
      return send('DELETE /api/v1/projects/{projectId}/environments/{environmentId}')(scene);
    },
    graphql: async (scene) => {
      await importIntoProd(scene, '/');
      return send('deleteEnvironment')(scene);
    },
  },
};

const dev = ({ world }: Scene) => ({ projectId: world.project, environment: 'dev' });

async function importIntoProd(scene: Scene, path: string): Promise<void> {
  if (path !== '/') await scene.admin.post('/api/v2/folders', { ...dev(scene), name: path.slice(1) });
  await scene.admin.post(IMPORTS_PATH, { ...dev(scene), environment: 'prod', import: { environment: 'dev', path } });
}
