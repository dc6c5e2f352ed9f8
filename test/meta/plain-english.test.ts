import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  buildSchema,
  type GraphQLNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isSpecifiedScalarType,
} from 'graphql';
import { markdownFiles, proseOf } from '../kit/documents.js';
import { ROOT, sources } from './sources.js';

/** A text that people read, and where it is. */
interface Prose {
  readonly place: string;
  readonly text: string;
}

/** Phrases that our documents do not use, and what to write. */
const BANNED: readonly (readonly [RegExp, string])[] = [
  [/\bthat which\b/i, 'what'],
  [/\b(?:is|are|was|were) told\b/i, 'report, list'],
  [/\bstand(?:s|ing)? still\b/i, 'is blocked, is unchanged'],
  [/\bstands in\b/i, 'is in'],
  [/\bmay know of\b/i, 'can see'],
  [/\b(?:does|do) not open\b|\bcannot be opened\b/i, 'cannot be decrypted'],
  [/\bkept repl(?:y|ies)\b/i, 'response cache'],
  [/\bwhat is said of\b/i, 'default'],
  [/\bof nothing\b/i, 'no, none'],
  [/\bmust be given\b/i, 'is required'],
  [/\bthe list is whole\b/i, 'all items are returned'],
  [/\bupkeep\b/i, 'maintenance'],
  [/\bballast\b/i, 'disk reserve'],
  [/\bnear names?\b/i, 'suggestions'],
  [/\blook(?:s|ed)? after\b/i, 'maintain'],
  [/\bfaults?\b/i, 'error, violation'],
  [/\bas it was\b/i, 'the deleted tag, the previous value'],
  [/\bwhich one\b/i, 'name it'],
  [/\bgoes on\b/i, 'continues'],
  [/, in words\b/i, 'description'],
  [/\bwhat people call it\b/i, 'display name'],
];

/** What is not rewritten yet: how many texts break a rule. Whoever writes some anew lowers the number. */
const REMAINING = { banned: 0, short: 60, outside: 0 };

/** Short descriptions that say all there is to say. */
const SHORT_ENOUGH = /^(?:Input of|Result of) `|^The \w+ page\.$/;

const phrases = ({ place, text }: Prose): string[] =>
  BANNED.filter(([phrase]) => phrase.test(text.replace(/`[^`]*`/g, ''))).map(
    ([phrase, instead]) => `${place}: ${phrase.source} (${instead})`,
  );

const described = (place: string, { description }: { readonly description?: string | null }): Prose[] =>
  description ? [{ place, text: description }] : [];

function descriptionsOf(type: GraphQLNamedType): Prose[] {
  const outputs = isObjectType(type) || isInterfaceType(type) ? Object.values(type.getFields()) : [];
  const inputs = isInputObjectType(type) ? Object.values(type.getFields()) : [];
  return [
    ...described(type.name, type),
    ...[...outputs, ...inputs].flatMap((field) => described(`${type.name}.${field.name}`, field)),
    ...outputs.flatMap(({ name, args }) => args.flatMap((arg) => described(`${type.name}.${name}(${arg.name})`, arg))),
  ];
}

const types = Object.values(buildSchema(readFileSync(join(ROOT, 'schema/schema.graphql'), 'utf8')).getTypeMap()).filter(
  (type) => !isIntrospectionType(type) && !isSpecifiedScalarType(type),
);
const descriptions = types.flatMap(descriptionsOf);
const values = types
  .filter(isEnumType)
  .flatMap((type) => type.getValues().flatMap((value) => described(`${type.name}.${value.name}`, value)));

/** Descriptions and summaries of the REST document. */
function restProse(value: unknown, place: string): Prose[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => restProse(item, `${place}/${index}`));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, child]) =>
    typeof child === 'string'
      ? ['description', 'summary'].includes(key)
        ? [{ place, text: child }]
        : []
      : restProse(child, `${place}/${key}`),
  );
}

const rest = restProse(JSON.parse(readFileSync(join(ROOT, 'schema/openapi.json'), 'utf8')), 'openapi.json');
const documents = markdownFiles().map((file) => ({
  place: file.path,
  // Names of commands and files are no prose.
  text: proseOf(file).replace(/`[^`]*`|\]\([^)]*\)/g, ''),
}));
const messages = sources('src')
  .filter(({ path }) => /\.errors\.ts$|kernel\/errors\.ts$/.test(path))
  .flatMap(({ path, text }) =>
    [...text.matchAll(/'((?:[^'\\\n]|\\.)* (?:[^'\\\n]|\\.)*)'/g)].map(([, message]) => ({
      place: path,
      text: message as string,
    })),
  );

describe('what people read', () => {
  test('has no phrase that our documents do not use', () => {
    expect([descriptions.length, rest.length, documents.length, messages.length].every((count) => count > 10)).toBe(
      true,
    );
    const found = [...descriptions, ...values, ...rest, ...documents, ...messages].flatMap(phrases);
    expect(found.length > REMAINING.banned ? found : []).toEqual([]);
  });

  test('of types, fields and arguments has at least four words', () => {
    const short = descriptions.filter(
      ({ place, text }) =>
        text.trim().split(/\s+/).length < 4 && !SHORT_ENOUGH.test(text) && !/Edge\.node$|Payload\.\w+$/.test(place),
    );
    expect(short.length > REMAINING.short ? short : []).toEqual([]);
  });

  test('would notice a phrase and a place', () => {
    expect(phrases({ place: 'x', text: 'It is told which one.' })).toHaveLength(2);
    expect(phrases({ place: 'x', text: 'Reports the affected secret.' })).toEqual([]);
  });
});

test('the code refers to no document outside of the repository', () => {
  const reference =
    /\b(?:behaviour|decisions|reliability|rotation-targets)(?:\.md)?[ .]+P?\d|\b(?:interface|clients)\.md\b|\.\.\/shared\/|\bSource: (?:specification|interface|clients|rotation)/;
  const found = sources('src', 'test')
    .filter(({ path }) => path !== 'test/meta/plain-english.test.ts')
    .flatMap(({ path, text }) =>
      text.split('\n').flatMap((line, index) => (reference.test(line) ? [`${path}:${index + 1}`] : [])),
    );
  expect(found.length > REMAINING.outside ? found : []).toEqual([]);
});
