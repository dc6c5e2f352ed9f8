import * as z from 'zod';
import { capitalized } from '../../../kernel/names.js';
import { bodyOf, type Data, type FieldRoute, ofSample, routesAt } from '../../../rest/route.js';
import { fieldOf } from './auth-configuration.resolver.js';
import { changesOf } from './auth-configuration.rules.js';
import type { AuthConfiguration } from './auth-configuration.service.js';

/** A setting as existing clients write it: under another name, or as a text that stands for something else. */
interface Word {
  /** What the input calls it. */
  readonly field: string;
  readonly rule: z.ZodType;
  /** What stands for it in the input. Absent: what is written. */
  readonly read?: (written: never) => unknown;
  /** How replies write it. Absent: as GraphQL answers it, under the name that `select` gives it. */
  readonly reply?: {
    readonly schema: { readonly type: string; readonly description: string };
    readonly write: (value: never) => unknown;
  };
}

type Words = Readonly<Record<string, Word>>;

/** A required setting under another name. */
export const renamed = (field: string, description: string): Word => ({
  field,
  rule: z.string().meta({ description }),
});

/** A text that is empty for none. @param inReplies its description there; absent: null for none, as GraphQL answers it */
export const orEmpty = (field: string, description: string, inReplies?: string): Word => ({
  field,
  rule: z.string().optional().meta({ description }),
  read: noneIfEmpty,
  ...(inReplies !== undefined && {
    reply: { schema: { type: 'string', description: inReplies }, write: (text: string | null) => text ?? '' },
  }),
});

/** A list as a text with commas. @param inReplies its description there */
export const commaSeparated = (field: string, description: string, inReplies: string): Word => ({
  field,
  rule: z.string().max(10_000).optional().meta({ description }),
  read: listInText,
  reply: {
    schema: { type: 'string', description: inReplies },
    write: (items: readonly string[]) => items.join(','),
  },
});

/** An empty text is none. */
export const noneIfEmpty = <T>(text: T): T | null => (text === '' ? null : text);

/** The items of a text with commas. */
export const listInText = (text: unknown): string[] =>
  String(text)
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');

/** The input that a body stands for; what the body does not have is absent. */
const toInput =
  (words: Words) =>
  (body: Data): Data =>
    Object.fromEntries(
      Object.entries(body).map(([name, written]) => {
        const word = words[name];
        return [word?.field ?? name, word?.read === undefined ? written : word.read(written as never)];
      }),
    );

/** A configuration as replies show it: first what they write as GraphQL answers it. */
function toReply(words: Words) {
  const wordOf = new Map(Object.entries(words).map(([name, { field, reply }]) => [field, { name, reply }]));
  return ({ ...same }: Data): Data => {
    const written: Data = {};
    for (const [field, value] of Object.entries(same)) {
      const { name, reply } = wordOf.get(field) ?? {};
      if (name === undefined || reply === undefined) continue;
      delete same[field];
      written[name] = ofSample(same.identityId, reply.schema) ?? reply.write(value as never);
    }
    return { id: same.identityId, ...same, ...written };
  };
}

/**
 * The routes of a configuration. They show all that its type holds.
 *
 * @param called what summaries call it: `OIDC`
 * @param removal the summary of its removal
 * @param words how clients write its settings, by their names; without them as GraphQL does
 */
export function configurationRoutes(
  {
    method,
    rules,
    errors,
    endsSessions,
  }: Pick<AuthConfiguration<never, never>, 'method' | 'rules' | 'errors' | 'endsSessions'>,
  {
    called,
    removal,
    select,
    words,
    examples,
  }: {
    readonly called: string;
    readonly removal: string;
    readonly select?: string;
    readonly words?: Words;
    readonly examples: { readonly attach: Data; readonly update: Data };
  },
): FieldRoute[] {
  const name = capitalized(fieldOf(method));
  const inWords = Object.entries(words ?? {});
  const wordRules = Object.fromEntries(inWords.map(([word, { rule }]) => [word, rule]));
  const others = (given: z.ZodObject) => bodyOf(given, 'identityId', ...inWords.map(([, { field }]) => field)).shape;
  const attachBody: z.ZodObject = z.strictObject({ ...wordRules, ...others(rules.attach) });
  const updateBody: z.ZodObject = z.strictObject({ ...changesOf(wordRules), ...others(rules.update) });
  const ending = endsSessions ? ', which ends its sessions' : '';
  const at = routesAt(`/api/v1/auth/${method}/identities/{identityId}`, {
    as: `identity${name}`,
    ...(select !== undefined && { select }),
    ...(words !== undefined && { input: toInput(words), show: toReply(words) }),
    errors: ['IDENTITY_NOT_FOUND'],
  });
  return [
    at.post('', `Attach ${rules.name} to a machine identity`, {
      field: `attach${name}`,
      body: attachBody,
      errors: [errors.exists],
      example: examples.attach,
    }),
    at.get('', `Get the ${called} configuration of a machine identity`, {
      field: `identity${name}`,
      errors: [errors.missing],
    }),
    at.patch('', `Change the ${called} configuration of a machine identity${ending}`, {
      field: `update${name}`,
      body: updateBody,
      errors: [errors.missing, 'LAST_ADMIN'],
      example: examples.update,
    }),
    at.delete('', removal, { field: `remove${name}`, errors: [errors.missing, 'LAST_ADMIN'] }),
  ];
}
