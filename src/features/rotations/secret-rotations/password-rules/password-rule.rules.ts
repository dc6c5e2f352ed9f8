import * as z from 'zod';
import type { DetailCode } from '../../../../kernel/detail-codes.js';
import { orderRules } from '../../../../kernel/list-order.js';
import { pageRules } from '../../../../kernel/paging.js';
import { EVEN_IF_INVALID, objectEntries } from '../../../../kernel/validation.js';
import { expectedVersion, idOf, integer, personText, slugText } from '../../../../kernel/value-rules.js';

/** Longer ones cannot be typed into the dialogs of Windows, and from 257 characters on Samba silently loses them. */
const MAX_LENGTH = 127;
const MIN_LENGTH = 8;
export const DEFAULT_LENGTH = 48;
const DEFAULT_SYMBOLS = '-_.~!*';
/** Fewer different characters make passwords that can be guessed, or that cannot avoid the account name. */
const LEAST_CHARACTERS = 10;

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
const DIGITS = '0123456789';

const count = (what: string) =>
  integer(0, MAX_LENGTH).meta({ description: `Minimum number of ${what}. With 0, none are used.` });

/** Requirements for generated passwords. */
export const PasswordRequirements = z
  .strictObject({
    length: integer(MIN_LENGTH, MAX_LENGTH).meta({
      description: `Length of the password, ${MIN_LENGTH} to ${MAX_LENGTH} characters.`,
    }),
    required: z
      .strictObject({
        lowercase: count('lower-case letters'),
        uppercase: count('upper-case letters'),
        digits: count('digits'),
        symbols: count('symbols'),
      })
      .meta({ description: 'Minimum number of characters of each class. The rest is drawn from all used classes.' }),
    allowedSymbols: z
      .string()
      .max(64)
      .regex(/^[!-/:-@[-`{-~]*$/, 'must contain only ASCII symbols: no letters, digits or spaces')
      .nullish()
      .meta({ description: `Symbols that may be used. Absent or empty: ${DEFAULT_SYMBOLS}` }),
  })
  .superRefine((given, issues) => {
    for (const violation of requirementViolations(given)) issues.addIssue({ code: 'custom', ...violation });
  }, EVEN_IF_INVALID)
  .meta({ description: 'Requirements for generated passwords.' });
export type PasswordRequirements = z.output<typeof PasswordRequirements>;

/** Default requirements. */
export const DEFAULT_REQUIREMENTS: PasswordRequirements = {
  length: DEFAULT_LENGTH,
  required: { lowercase: 1, uppercase: 1, digits: 1, symbols: 0 },
};

/** The used character classes of a password, each with its minimum number. */
export function classesOf({ required, allowedSymbols }: PasswordRequirements): { least: number; characters: string }[] {
  const symbols = [...new Set(allowedSymbols || DEFAULT_SYMBOLS)].join('');
  return [
    { least: required.lowercase, characters: LETTERS },
    { least: required.uppercase, characters: LETTERS.toUpperCase() },
    { least: required.digits, characters: DIGITS },
    { least: required.symbols, characters: symbols },
  ].filter(({ least }) => least > 0);
}

interface Violation {
  readonly path: string[];
  readonly message: string;
  readonly params: { readonly code: DetailCode };
}

/** Errors of the combination of valid fields; none if a field is invalid. */
function requirementViolations(given: object): Violation[] {
  const [{ required, length, allowedSymbols } = {}] = objectEntries([given]);
  const [counts = {}] = objectEntries([required]);
  const numbers = [counts.lowercase, counts.uppercase, counts.digits, counts.symbols];
  if (!numbers.every((number) => Number.isInteger(number)) || !Number.isInteger(length)) return [];
  const violation = (path: string[], message: string, code: DetailCode = 'INVALID'): Violation[] => [
    { path, message, params: { code } },
  ];
  const sum = numbers.reduce<number>((total, number) => total + Number(number), 0);
  if (sum === 0) return violation(['required'], 'must have at least one number greater than 0', 'TOO_SMALL');
  if (sum > Number(length))
    return violation(['required'], 'must not require more characters than the length', 'TOO_BIG');
  if (allowedSymbols != null && typeof allowedSymbols !== 'string') return [];
  const classes = classesOf({ length, required: counts, allowedSymbols } as PasswordRequirements);
  const characters = classes.reduce((total, one) => total + one.characters.length, 0);
  return characters < LEAST_CHARACTERS
    ? violation(['required'], `must use at least ${LEAST_CHARACTERS} different characters`, 'TOO_SMALL')
    : [];
}

/** The name that rotations refer to. */
export const ruleName = slugText(1, 64);

const id = idOf('password rule');
const description = personText(0, 256)
  .nullish()
  .meta({ description: 'Description of the rule, up to 256 characters; null for none.' });

export const CreatePasswordRule = z
  .strictObject({
    name: ruleName.meta({
      description:
        'Name of the rule, 1 to 64 characters: lower-case words separated by hyphens. Unique in the organization. It cannot change, because rotations refer to it.',
    }),
    description,
    requirements: PasswordRequirements,
  })
  .meta({ description: 'Fields of the new password rule.' });

export const UpdatePasswordRule = z
  .strictObject({ id, expectedVersion, description, requirements: PasswordRequirements.optional() })
  .meta({ description: 'Fields of the password rule to change. Absent fields keep their value.' });

export const OnePasswordRule = z.strictObject({ id }).meta({ description: 'The password rule, by ID.' });

/** Arguments of `passwordRules`. */
export const ListPasswordRules = z.strictObject({ ...pageRules, ...orderRules });
