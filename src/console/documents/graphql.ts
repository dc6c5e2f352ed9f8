import type { initGraphQLTada } from 'gql.tada';
import { gql } from 'urql';
import type { introspection } from '#schema';

interface Setup {
  introspection: introspection;
  disableMasking: true;
  scalars: { DateTime: string };
}

/** A document, typed by the schema. All of them are in `documents/`, and run by their IDs: see `manifest.ts`. */
export const graphql = gql as unknown as ReturnType<typeof initGraphQLTada<Setup>>;
