import { ObjectType } from 'type-graphql';
import { inputType } from '../../../kernel/graphql/inputs.js';
import { CreateAccessTokenPayload } from '../access-token.type.js';
import { LogIn } from './login.rules.js';

export const LogInWithUniversalAuthInput = inputType('LogInWithUniversalAuthInput', LogIn);

@ObjectType({ description: 'The token of a login. This is the only time that it is shown.' })
export class LogInWithUniversalAuthPayload extends CreateAccessTokenPayload {}
