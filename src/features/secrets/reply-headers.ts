import type { ReplyHeader } from '../../rest/response-headers.js';
import type { Data } from '../../rest/route.js';

const COUNT = { type: 'integer', minimum: 1 } as const;

const counted =
  (name: string, description: string) =>
  (count: (data: Data) => number): ReplyHeader<Data> => ({
    name,
    description,
    schema: COUNT,
    value: (data) => (count(data) === 0 ? null : String(count(data))),
  });

/** How many references of a reply could not be expanded. */
export const unresolvedReferences = counted(
  'X-Unresolved-References',
  'How many references stand in the values as they are, since they could not be expanded: missing, cyclic, forbidden or too large. Absent for none. `referenceIssues` in GraphQL names them.',
);

/** How many values of a reply did not open. */
export const unreadableValues = counted(
  'X-Unreadable-Values',
  'How many values are withheld because they did not open: somebody edited the database, or a key is missing. Absent for none. `readIssues` in GraphQL names them.',
);

/** Whether a recursive list left something out. */
export const depthTruncated = (isTruncated: (data: Data) => boolean): ReplyHeader<Data> => ({
  name: 'X-Depth-Truncated',
  description: '`true` when there are folders deeper than 20 levels, which are left out. Absent otherwise.',
  schema: { type: 'string', enum: ['true'] },
  value: (data) => (isTruncated(data) ? 'true' : null),
});
