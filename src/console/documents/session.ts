import { graphql } from './graphql.ts';

/** Tells that something changed. */
export const Changes = graphql(`
  subscription Changes {
    changes { cursor operation }
  }
`);
