import { GraphQLScalarType } from 'graphql';
import { GraphQLDateTimeISO } from 'graphql-scalars';

/** A point in time. The one scalar for it, under the name that generators know. */
export const DateTime = new GraphQLScalarType<Date, string>({
  ...GraphQLDateTimeISO.toConfig(),
  name: 'DateTime',
  description: 'A date and time in UTC, in the format of RFC 3339, for example `2026-01-31T12:00:00.000Z`.',
});
