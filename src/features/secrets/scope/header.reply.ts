import type { ReplyHeader } from '../../../rest/response-headers.js';
import type { Data } from '../../../rest/route.js';

const COUNT = { type: 'integer', minimum: 1 } as const;

const counted =
  (name: string, description: string) =>
  (count: (data: Data) => number): ReplyHeader<Data> => ({
    name,
    description,
    schema: COUNT,
    value: (data) => (count(data) === 0 ? null : String(count(data))),
  });

/** Number of references in a response that could not be expanded. */
export const unresolvedReferences = counted(
  'X-Unresolved-References',
  'Number of references that could not be expanded and are returned unchanged: missing, cyclic, forbidden or too ' +
    'large. Absent for none. In GraphQL `referenceIssues` lists them.',
);

/** Number of values in a response that could not be decrypted. */
export const unreadableValues = counted(
  'X-Unreadable-Values',
  'Number of values that are hidden because they cannot be decrypted: the database was edited, or a key is ' +
    'missing. Absent for none. In GraphQL `readIssues` lists them.',
);

/** Whether a recursive list was truncated. */
export const depthTruncated = (isTruncated: (data: Data) => boolean): ReplyHeader<Data> => ({
  name: 'X-Depth-Truncated',
  description: '`true` when folders deeper than 20 levels were left out. Absent otherwise.',
  schema: { type: 'string', enum: ['true'] },
  value: (data) => (isTruncated(data) ? 'true' : null),
});
