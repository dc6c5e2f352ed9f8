import { ID, Int } from 'type-graphql';
import { objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { MemberKindEnum } from '../organizations/public.js';
import { AccessTokenType } from './access-token.type.js';

export const ViewerType = objectType('Viewer', 'The caller: its account, its organization and its token.', {
  kind: [MemberKindEnum, 'Whether you are a user or a machine identity.'],
  name: [String, 'Your username, or the name of your machine identity.'],
  identityId: [orNull(ID), 'ID of your machine identity; null for a user.'],
  userId: [orNull(ID), 'ID of your user; null for a machine identity.'],
  organizationId: [ID, 'ID of the organization that your token is scoped to.'],
  token: [AccessTokenType, 'ID of the token that you sent.'],
  usesLeft: [orNull(Int), 'Number of remaining uses of the token; null for no limit.'],
});
export type ViewerType = InstanceType<typeof ViewerType>;
