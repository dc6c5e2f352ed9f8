import { REQUIREMENTS } from '../../password-rules.js';
import { CANARY } from '../../world.js';
import { type GraphQLOperation, viewer } from '../operation.js';

/** Password rules of the organization. */
export const passwordRules: readonly GraphQLOperation[] = [
  { field: 'passwordRules', audit: 'password-rule:list', denial: viewer('app-connections:read') },
  {
    field: 'passwordRule',
    args: { id: '$passwordRule' },
    audit: 'password-rule:get',
    denial: viewer('app-connections:read'),
  },
  {
    field: 'createPasswordRule',
    args: { name: 'of-servers', description: CANARY, requirements: REQUIREMENTS },
    audit: 'password-rule:create',
    denial: viewer('app-connections:create'),
  },
  {
    field: 'updatePasswordRule',
    args: { id: '$passwordRule', description: CANARY, requirements: { ...REQUIREMENTS, length: 24 } },
    audit: 'password-rule:update',
    denial: viewer('app-connections:edit'),
  },
  {
    field: 'deletePasswordRule',
    args: { id: '$passwordRule' },
    audit: 'password-rule:delete',
    denial: viewer('app-connections:delete'),
  },
];
