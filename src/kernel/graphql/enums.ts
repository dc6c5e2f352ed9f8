import { registerEnumType } from 'type-graphql';
import type { z } from 'zod';
import { enumName } from '../names.js';
import { enumOfRule } from './inputs.js';

/**
 * Makes an enum of GraphQL from the words that rules and rows have, each with its description: `next-window` is `NEXT_WINDOW`.
 *
 * @param rule inputs of this rule have the enum
 */
export function enumType<Word extends string>(
  name: string,
  description: string,
  words: Readonly<Record<Word, string>>,
  rule?: z.ZodEnum,
): Readonly<Record<string, Word>> {
  const described = Object.entries<string>(words);
  const type = Object.fromEntries((Object.keys(words) as Word[]).map((word) => [enumName(word) as string, word]));
  const valuesConfig = Object.fromEntries(described.map(([word, about]) => [enumName(word), { description: about }]));
  registerEnumType(type, { name, description, valuesConfig });
  if (rule !== undefined) enumOfRule(rule, type);
  return type;
}
