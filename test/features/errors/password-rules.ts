import { randomUUID } from 'node:crypto';
import type { ErrorCode } from '../../../src/kernel/errors.js';
import { again, type ErrorCase, send } from './scene.js';

const ONLY_GRAPHQL = 'only GraphQL has operations on password rules';

export const PASSWORD_RULES: Partial<Record<ErrorCode, ErrorCase>> = {
  PASSWORD_RULE_NOT_FOUND: {
    rest: ONLY_GRAPHQL,
    graphql: send('passwordRule', () => ({ passwordRule: randomUUID() })),
  },
  PASSWORD_RULE_NAME_TAKEN: { rest: ONLY_GRAPHQL, graphql: again('createPasswordRule') },
  PASSWORD_RULE_IN_USE: {
    rest: ONLY_GRAPHQL,
    graphql: async (scene) => {
      const { strongroom, world } = scene;
      const connection = await strongroom.seed.smbConnection(world.project, `smb-${randomUUID().slice(0, 8)}`);
      const rotation = await strongroom.seed.accountRotation(connection, `account-${randomUUID().slice(0, 8)}`);
      await strongroom.sql(
        `update secret_rotation set parameters = parameters || jsonb_build_object('passwordRule', p.name)
         from password_rule p where secret_rotation.id = $1 and p.id = $2`,
        [rotation, world.passwordRule],
      );
      return send('deletePasswordRule')(scene);
    },
  },
};
