import * as z from 'zod';
import { EVEN_IF_INVALID, objectEntries } from '../../../../../kernel/validation.js';
import { currentPassword } from '../../../app-connections/public.js';
import { secretKeyOf } from '../../kind/rotation-kind.js';
import { DEFAULT_LENGTH, PasswordRequirements, ruleName } from '../../password-rules/password-rule.rules.js';

/** How the password of an account is changed. */
export const rotationMethod = z.enum(['login-as-target', 'login-as-root']);
export type RotationMethod = z.output<typeof rotationMethod>;

/** Built-in accounts. */
const BUILT_IN = ['administrator', 'system', 'guest', 'defaultaccount'];

/** A leading digit would be parsed as a relative ID (RID): 500 is the administrator. */
const username = z
  .string()
  .trim()
  .min(1)
  .max(20)
  .refine((text) => /^[A-Za-z_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_-])?$/.test(text), {
    error:
      'must consist of letters, digits, dots, hyphens and underscores, starting with a letter or underscore and not ending with a dot',
    params: { code: 'INVALID_FORMAT' },
  })
  .refine((text) => !BUILT_IN.includes(text.toLowerCase()), { error: 'must not be a built-in account' })
  .meta({ description: 'Name of the local account, 1 to 20 characters. It cannot change.' });

export const AccountParameters = z
  .strictObject({
    username,
    passwordRequirements: PasswordRequirements.nullish().meta({
      description: `Requirements for generated passwords. Absent: ${DEFAULT_LENGTH} letters and digits. A change takes effect at the next rotation.`,
    }),
    passwordRule: ruleName.nullish().meta({
      description:
        'Name of a password rule of the organization, instead of `passwordRequirements`. A change of the rule takes effect at the next rotation.',
    }),
    rotationMethod: rotationMethod.default('login-as-root' satisfies RotationMethod).meta({
      description:
        'Who changes the password: the account itself, or the account of the connection, which must be an administrator. It cannot change.',
    }),
  })
  .superRefine((given: object, issues) => {
    const [{ passwordRequirements, passwordRule } = {}] = objectEntries([given]);
    if (passwordRequirements != null && passwordRule != null)
      issues.addIssue({
        code: 'custom',
        path: ['passwordRule'],
        message: 'must be absent if passwordRequirements is set',
        params: { code: 'INVALID' },
      });
  }, EVEN_IF_INVALID)
  .meta({ description: 'The local account, and how its password is changed.' });
export type AccountParameters = z.output<typeof AccountParameters>;

export const AccountMapping = z
  .strictObject({ username: secretKeyOf('the name of the account'), password: secretKeyOf('the password') })
  .superRefine((given: object, issues) => {
    const [{ username: name, password } = {}] = objectEntries([given]);
    if (name !== undefined && name === password)
      issues.addIssue({
        code: 'custom',
        path: ['password'],
        message: 'must differ from the key of the user name',
        params: { code: 'DUPLICATE' },
      });
  }, EVEN_IF_INVALID)
  .meta({ description: 'Keys of the secrets that hold the name and the password of the account.' });

const AccountTemporary = z
  .strictObject({
    password: currentPassword.meta({ description: 'Current password of the account, up to 256 characters.' }),
  })
  .meta({ description: 'Used once, for the first rotation, and not stored.' });

/** Content of a new rotation of an account. */
export const AccountContent = z
  .strictObject({
    parameters: AccountParameters,
    secretsMapping: AccountMapping,
    temporaryParameters: AccountTemporary.nullish(),
  })
  .superRefine((given, issues) => {
    const [{ parameters, temporaryParameters } = {}] = objectEntries([given]);
    const [{ rotationMethod: method } = {}] = objectEntries([parameters]);
    if (method === ('login-as-target' satisfies RotationMethod) && temporaryParameters == null)
      issues.addIssue({
        code: 'custom',
        path: ['temporaryParameters', 'password'],
        message: 'required because the account changes its own password',
        params: { code: 'MISSING' },
      });
  }, EVEN_IF_INVALID)
  .meta({ description: 'Rotation of the password of a local account.' });

export const AccountChange = z
  .strictObject({ parameters: AccountParameters.optional(), secretsMapping: AccountMapping.optional() })
  .meta({
    description: 'Changes of the parameters and the mapping of an account rotation. Absent fields keep their value.',
  });
