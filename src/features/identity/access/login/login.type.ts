import { objectType } from '../../../../kernel/graphql/object-types.js';
import { CreateAccessTokenPayload } from '../access-token.type.js';

export const LogInWithUniversalAuthPayload = objectType(
  'LogInWithUniversalAuthPayload',
  'The access token of a login. The token itself is returned only once.',
  {},
  { extends: CreateAccessTokenPayload },
);
export type LogInWithUniversalAuthPayload = InstanceType<typeof LogInWithUniversalAuthPayload>;
