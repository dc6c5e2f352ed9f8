import { ObjectType } from 'type-graphql';
import { CreateAccessTokenPayload } from '../access-token.type.js';

@ObjectType({ description: 'The token of a login. This is the only time that it is shown.' })
export class LogInWithUniversalAuthPayload extends CreateAccessTokenPayload {}
