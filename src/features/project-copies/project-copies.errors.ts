import { declareDetailCodes } from '../../kernel/detail-codes.js';

/** What entries of `details` say of parts of a project. */
const DETAILS = declareDetailCodes({
  NEEDS_PART: 'The part is copied with another part only, which the message names.',
});

declare module '../../kernel/detail-codes.js' {
  interface DetailCodes {
    readonly projectCopies: keyof typeof DETAILS;
  }
}
