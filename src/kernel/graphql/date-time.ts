import { GraphQLScalarType } from 'graphql';
import { GraphQLDateTimeISO } from 'graphql-scalars';

const { serialize, ...config } = GraphQLDateTimeISO.toConfig();
let lastTime = Number.NaN;
let lastText = '';

/** A point in time. The one scalar for it, under the name that generators know. */
export const DateTime = new GraphQLScalarType<Date, string>({
  ...config,
  name: 'DateTime',
  description: 'A date and time in UTC, in the format of RFC 3339, for example `2026-01-31T12:00:00.000Z`.',
  // The last one is kept: most rows of a list were not changed since they were created, and many were created together.
  serialize: (value) => {
    if (!(value instanceof Date)) return serialize(value) as unknown as string;
    const time = value.getTime();
    if (time !== lastTime) {
      lastText = serialize(value) as unknown as string;
      lastTime = time;
    }
    return lastText;
  },
});
