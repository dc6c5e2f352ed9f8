import { z } from 'zod';
import { EVEN_IF_FAULTY, looseEntries } from '../../../../kernel/validation.js';
import { knownPassword } from '../../../app-connections/public.js';
import { secretKeyOf } from '../../kind/mapping.rules.js';
import { ruleName } from '../../password-rules/password-rule.rules.js';
import { DEFAULT_LENGTH, PasswordRequirements } from '../../password-rules/requirements.rules.js';

/** How the password of an account is changed. */
export const rotationMethod = z.enum(['login-as-target', 'login-as-root']);
export type RotationMethod = z.output<typeof rotationMethod>;

/** Accounts that nobody owns. */
const BUILT_IN = ['administrator', 'system', 'guest', 'defaultaccount'];

/** A leading digit would be read as the number of an account: 500 is the administrator. Source: rotation-targets A4. */
const username = z
  .string()
  .trim()
  .min(1)
  .max(20)
  .refine((text) => /^[A-Za-z_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_-])?$/.test(text), {
    error:
      'must be letters, digits, dots, hyphens and underscores, of which the first is a letter or underscore and the last no dot',
    params: { code: 'INVALID_FORMAT' },
  })
  .refine((text) => !BUILT_IN.includes(text.toLowerCase()), { error: 'must not be an account that is built in' })
  .meta({ description: 'Name of the account on the server itself, 1 to 20 characters. It cannot change.' });

export const AccountParameters = z
  .strictObject({
    username,
    passwordRequirements: PasswordRequirements.nullish().meta({
      description: `What its passwords are like; absent: ${DEFAULT_LENGTH} letters and digits. A change takes effect with the next rotation.`,
    }),
    passwordRule: ruleName.nullish().meta({
      description:
        'Name of a password rule of the organization, in place of `passwordRequirements`. It is looked up when a password is made, so that a change of the rule takes effect with the next rotation.',
    }),
    rotationMethod: rotationMethod.default('login-as-root' satisfies RotationMethod).meta({
      description:
        'Whether the account changes its own password, or the account of the connection resets it, for which that has to be an administrator. It cannot change.',
    }),
  })
  .superRefine((given: object, issues) => {
    const [{ passwordRequirements, passwordRule } = {}] = looseEntries([given]);
    if (passwordRequirements != null && passwordRule != null)
      issues.addIssue({
        code: 'custom',
        path: ['passwordRule'],
        message: 'must be absent where passwordRequirements are given',
        params: { code: 'INVALID' },
      });
  }, EVEN_IF_FAULTY)
  .meta({ description: 'Which account it is, and how its password changes.' });
export type AccountParameters = z.output<typeof AccountParameters>;

export const AccountMapping = z
  .strictObject({ username: secretKeyOf('the name of the account'), password: secretKeyOf('the password') })
  .superRefine((given: object, issues) => {
    const [{ username: name, password } = {}] = looseEntries([given]);
    if (name !== undefined && name === password)
      issues.addIssue({
        code: 'custom',
        path: ['password'],
        message: 'must be another key than that of the user name',
        params: { code: 'DUPLICATE' },
      });
  }, EVEN_IF_FAULTY)
  .meta({ description: 'The secrets that hold the name of the account and its password.' });

const AccountTemporary = z
  .strictObject({
    password: knownPassword.meta({ description: 'The present password of the account, up to 256 characters.' }),
  })
  .meta({ description: 'What is used once, for the first rotation, and not kept.' });

/** What a new rotation of an account is about. */
export const AccountContent = z
  .strictObject({
    parameters: AccountParameters,
    secretsMapping: AccountMapping,
    temporaryParameters: AccountTemporary.nullish(),
  })
  .superRefine((given, issues) => {
    const [{ parameters, temporaryParameters } = {}] = looseEntries([given]);
    const [{ rotationMethod: method } = {}] = looseEntries([parameters]);
    if (method === ('login-as-target' satisfies RotationMethod) && temporaryParameters == null)
      issues.addIssue({
        code: 'custom',
        path: ['temporaryParameters', 'password'],
        message: 'must be given, since the account changes its own password',
        params: { code: 'MISSING' },
      });
  }, EVEN_IF_FAULTY)
  .meta({ description: 'The password of a local account of a server.' });

export const AccountChange = z
  .strictObject({ parameters: AccountParameters.optional(), secretsMapping: AccountMapping.optional() })
  .meta({ description: 'Changes of the passwords of an account, and of the secrets that hold its name and password.' });
