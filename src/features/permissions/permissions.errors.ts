import { declareDetailCodes } from '../../kernel/detail-codes.js';

/** What entries of `details` say of the rules of a role. */
const DETAILS = declareDetailCodes({
  INVALID_GLOB: 'It is not a valid glob pattern.',
  READ_MIXED: '`read` must not be combined with `describeSecret` or `readValue`.',
});

declare module '../../kernel/detail-codes.js' {
  interface DetailCodes {
    readonly permissions: keyof typeof DETAILS;
  }
}
