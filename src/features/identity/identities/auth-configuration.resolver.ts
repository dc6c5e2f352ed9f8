import { type ClassType, Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { type Comparisons, creation } from '../../../kernel/graphql/creation.js';
import { mutation, query } from '../../../kernel/graphql/operations.js';
import { capitalized } from '../../../kernel/names.js';
import type { AuthConfiguration, AuthConfigurationService, TokenAuthChanges } from './auth-configuration.service.js';
import { type TokenAuthView, toStoredNetworks } from './auth-configuration.view.js';
import type { AuthMethod } from './auth-method.js';
import type { IdentityTokenAuth } from './token-auth.entity.js';

/** `token-auth` as names of GraphQL have it: `tokenAuth`. */
export const fieldOf = (method: AuthMethod): string => method.replace(/-./, (letter) => letter.charAt(1).toUpperCase());

/** How a creation compares networks with those of the configuration that exists. */
export const comparedNetworks = <Name extends string>(name: Name) => ({
  of: (found: Readonly<Record<Name, unknown>>) => found[name],
  as: toStoredNetworks,
});

/**
 * The root fields of an authentication method: of `token-auth` `identityTokenAuth`, `attachTokenAuth`, `updateTokenAuth` and `removeTokenAuth`.
 *
 * @param about ends of descriptions: what `attached` gives, and what becomes of credentials when it is `removed`
 * @param compare how a creation that runs again compares what is no field of the type
 */
export function configurationResolver<
  Shown extends object,
  Row extends IdentityTokenAuth,
  View extends TokenAuthView & Shown,
  Changes extends TokenAuthChanges,
>(
  { method, rules, errors, endsSessions }: AuthConfiguration<Row, View, Changes>,
  type: ClassType<Shown>,
  about: { readonly attached: string; readonly removed: string },
  compare: Comparisons<Changes, Shown>,
) {
  @Resolver(() => type)
  class ConfigurationResolver {
    constructor(readonly service: AuthConfigurationService<Row, View, Changes>) {}
  }
  type Verb = 'get' | 'attach' | 'update' | 'remove';
  const field = fieldOf(method);
  const returns = (description: string) => ({ [field]: [type, description] as const });
  const declare = (verb: Verb, operation: (resolver: object, name: string, answer: never) => void): void => {
    const name = `${verb === 'get' ? 'identity' : verb}${capitalized(field)}`;
    async function answer(this: ConfigurationResolver, ctx: Context, given: object) {
      const view = await this.service[verb](ctx, given);
      return verb === 'get' ? view : { [field]: view };
    }
    const property = { value: answer, configurable: true, writable: true };
    operation(ConfigurationResolver.prototype, name, property as never);
    Object.defineProperty(ConfigurationResolver.prototype, name, property);
  };

  const { name } = rules;
  declare('get', query(type, rules.one, `Returns the settings of ${name} of a machine identity.`));
  declare(
    'attach',
    creation(
      rules.attach,
      returns(`The settings of the attached ${name}.`),
      `Attaches ${name} to a machine identity${about.attached}`,
      {
        find: ({ service }: ConfigurationResolver, ctx: Context, { identityId }: Changes) =>
          service.get(ctx, { identityId }),
        taken: errors.exists,
        compare: { accessTokenTrustedIps: comparedNetworks('accessTokenTrustedIps'), ...compare },
      } as never,
    ),
  );
  declare(
    'update',
    mutation(
      rules.update,
      returns('The updated settings.'),
      `Changes the settings of ${name} of a machine identity.${endsSessions ? ' The tokens issued with them are revoked immediately.' : ''}`,
    ),
  );
  declare(
    'remove',
    mutation(
      rules.one,
      returns(`The settings of the removed ${name}.`),
      `Removes ${name} from a machine identity. ${about.removed}`,
    ),
  );
  return ConfigurationResolver;
}
