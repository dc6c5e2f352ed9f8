import { randomUUID } from 'node:crypto';
import type { Caller } from './caller.ts';

/** What a world has of password rules. */
export interface PasswordRuleWorld {
  /** A password rule of the organization, which no rotation uses. */
  readonly passwordRule: string;
}

/** Something that is required of passwords. */
export const REQUIREMENTS = { length: 16, required: { lowercase: 2, uppercase: 2, digits: 2, symbols: 0 } };

/** A password rule of an organization. @param isWanted whether a world needs it */
export async function makePasswordRule(
  admin: Caller,
  { canary, isWanted }: { readonly canary: string; isWanted(...things: (keyof PasswordRuleWorld)[]): boolean },
): Promise<PasswordRuleWorld> {
  if (!isWanted('passwordRule')) return { passwordRule: '' };
  const { createPasswordRule } = await admin.data(
    'mutation ($input: CreatePasswordRuleInput!) { createPasswordRule(input: $input) { passwordRule { id } } }',
    { input: { name: `rule-${randomUUID().slice(0, 8)}`, description: canary, requirements: REQUIREMENTS } },
  );
  return { passwordRule: createPasswordRule.passwordRule.id };
}
