import { ObjectType } from 'type-graphql';
import { CreateAccessTokenPayload } from '../access-token.type.js';

@ObjectType({ description: 'The access token of a login. The token itself is returned only once.' })
export class LogInWithUniversalAuthPayload extends CreateAccessTokenPayload {}
