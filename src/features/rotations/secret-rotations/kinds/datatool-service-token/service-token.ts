import { Int } from 'type-graphql';
import type { Context } from '../../../../../kernel/context.js';
import type { SealedText } from '../../../../../kernel/crypto/sealed-text.js';
import { enumType } from '../../../../../kernel/graphql/enums.js';
import { inputType } from '../../../../../kernel/graphql/inputs.js';
import { objectType, orNull } from '../../../../../kernel/graphql/object-types.js';
import type { TargetPolicy } from '../../../../../kernel/outbound/http.js';
import {
  DATATOOL_LIMIT_MS,
  DatatoolClient,
  datatoolCredentialsOf,
  TargetFailure,
} from '../../../app-connections/public.js';
import type {
  Credential,
  KindDeclaration,
  LookupResult,
  Parameters,
  RotationKind,
  RotationTarget,
} from '../../kind/rotation-kind.js';
import {
  Grant,
  PERMISSION_SETS,
  permissionSet,
  TokenChange,
  TokenContent,
  type TokenParameters,
} from './token.rules.js';

const PermissionSetEnum = enumType(
  'DatatoolPermissionSet',
  'Permission sets of service tokens.',
  Object.fromEntries(PERMISSION_SETS.map((name) => [name, `Permission set \`${name}\` of the external system.`])),
  permissionSet,
);

inputType('DatatoolGrantInput', Grant);

const GrantType = objectType('DatatoolGrant', 'A permission grant of a service token.', {
  permissionSet: [PermissionSetEnum, 'Permission set of the external system.'],
  projectId: [orNull(Int), 'ID of the external project that the permissions apply to. Null: all projects.'],
});

const TokenParametersType = objectType('DatatoolServiceTokenParameters', 'Name and permissions of the tokens.', {
  tokenName: [String, 'Name of the tokens. The number of the attempt is appended.'],
  permissionGrants: [[GrantType], 'Permissions of the tokens.'],
});

/** Rotations of service tokens of a datatool account (operations 16 and 17). */
export const DATATOOL_SERVICE_TOKEN: KindDeclaration<'datatool-service-token'> = {
  type: 'datatool-service-token',
  description:
    'Rotates service tokens of a datatool account. The replaced token stays valid until the next rotation, so consumers have time to read the new one.',
  content: TokenContent,
  change: TokenChange,
  refusesAdoption:
    'tokens cannot be adopted, because the external system does not tell whether an ID and a value belong to one token. Omit adopt: the rotation creates a token of its own. Then revoke the other one by hand',
  parametersType: TokenParametersType,
  credential: {
    description: 'A service token of a datatool account.',
    fields: {
      serviceToken: 'Value of the token.',
      tokenId: 'ID of the token in the external system.',
      tokenName: 'Name of the token in the external system.',
    },
  },
  rest: {
    title: 'a service-token rotation',
    operations: { get: { operation: 16 }, delete: { operation: 17 } },
    example: {
      projectId: '6f1c2a60-5a3e-4c52-9f43-6f4b8f0f2f11',
      name: 'reporting-token',
      description: 'Token of the reporting jobs',
      connectionId: '0f9f4d3e-2a55-4c0e-9d8e-5f0a6a0b1c22',
      environment: 'prod',
      secretPath: '/reporting',
      isAutoRotationEnabled: true,
      rotationInterval: 30,
      rotateAtUtc: { hours: 2, minutes: 30 },
      parameters: { tokenName: 'reporting', permissionGrants: [{ permissionSet: 'job_viewer' }] },
      secretsMapping: { serviceToken: 'DATATOOL_TOKEN' },
    },
  },
  create: (policy) => new DatatoolServiceToken(policy),
};

/**
 * Service tokens of a datatool account. Two are valid at a time: the published one, and its predecessor until the next rotation. A call
 * without a response may leave a token whose value is lost. Its name is never reused, and it is revoked by name.
 */
class DatatoolServiceToken implements RotationKind {
  readonly type = 'datatool-service-token';
  readonly app = 'datatool';
  readonly title = 'Datatool service token';
  readonly overlaps = true;
  readonly mostRefusals = 10;
  readonly callSeconds = DATATOOL_LIMIT_MS / 1_000;
  // A token that a lost call may still create is revoked by name when it appears.
  readonly orphanSeconds = 0;

  constructor(private readonly policy: TargetPolicy) {}

  async check(ctx: Context, target: RotationTarget): Promise<void> {
    const client = this.#client(target);
    await client.account(ctx);
    await client.listable(ctx);
  }

  loginOf({ secret }: Credential): SealedText | null {
    return secret;
  }

  candidate(parameters: Parameters, name: string): Credential {
    return { shown: { tokenName: this.outsideName(parameters, name) }, secret: null };
  }

  outsideName(parameters: Parameters, name: string): string {
    return `${parametersOf(parameters).tokenName}-${name}`;
  }

  async apply(ctx: Context, target: RotationTarget, { shown }: Credential): Promise<Credential> {
    const { permissionGrants: grants } = parametersOf(target.parameters);
    const { id, name, token } = await this.#client(target).createToken(ctx, { name: String(shown.tokenName), grants });
    return { shown: { tokenId: id, tokenName: name }, secret: token };
  }

  async find(): Promise<LookupResult> {
    return { outcome: 'void' };
  }

  async verify(ctx: Context, target: RotationTarget, { shown }: Credential): Promise<void> {
    // By look-up: a token may lack the permission for any call of its own.
    if ((await this.#client(target).token(ctx, Number(shown.tokenId))) === 'gone')
      throw new TargetFailure('CREDENTIALS_REJECTED', 'unchanged', 'The new token no longer exists.');
  }

  async revoke(ctx: Context, target: RotationTarget, { shown }: Credential): Promise<void> {
    // Tokens that were adopted have no name here.
    await this.#client(target).revokeToken(ctx, Number(shown.tokenId), String(shown.tokenName) || null);
  }

  async revokeByName(ctx: Context, target: RotationTarget, name: string): Promise<void> {
    const client = this.#client(target);
    for (const id of await client.findTokens(ctx, name)) await client.revokeToken(ctx, id);
  }

  labelOf({ tokenName, tokenId }: Credential['shown']) {
    return { name: String(tokenName ?? '') || null, id: tokenId === undefined ? null : String(tokenId) };
  }

  secretsOf({ secret }: Credential) {
    if (secret === null) throw new Error('the published token has no value');
    return { serviceToken: secret };
  }

  #client({ connection }: RotationTarget): DatatoolClient {
    return new DatatoolClient(datatoolCredentialsOf(connection), this.policy);
  }
}

/** Validated when they were stored. */
const parametersOf = (parameters: Parameters): TokenParameters => parameters as TokenParameters;
