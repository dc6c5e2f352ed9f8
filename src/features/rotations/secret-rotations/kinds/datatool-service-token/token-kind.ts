import type { Context } from '../../../../../kernel/context.js';
import type { SealedText } from '../../../../../kernel/crypto/sealed-text.js';
import type { TargetPolicy } from '../../../../../kernel/outbound/http.js';
import {
  DATATOOL_LIMIT_MS,
  DatatoolClient,
  datatoolCredentialsOf,
  TargetFailure,
} from '../../../app-connections/public.js';
import type { Credential, Finding, Parameters, RotationKind, RotationTarget } from '../../kind/rotation-kind.js';
import type { TokenParameters } from './token.rules.js';

/**
 * Service tokens of a datatool account. Two are valid at a time: the published one, and its predecessor until the next rotation. A call
 * without a response may leave a token whose value is lost. Its name is never reused, and it is revoked by name.
 */
export class DatatoolServiceToken implements RotationKind {
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

  async find(): Promise<Finding> {
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
